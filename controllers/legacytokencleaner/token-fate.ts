import { formatTime, parseTime, isBeingDeleted, type Cached, type Secret } from '../../pkg/api/index.ts';

/** The day on which a token was last used. Set by the API server. */
export const lastUsedLabel = 'kubernetes.io/legacy-token-last-used';
/** Makes the API server reject the token. */
export const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since';

const dayMs = 24 * 3600 * 1000;

export type TokenFate =
  | { readonly kind: 'keep' }
  | { readonly kind: 'invalidate'; readonly since: string }
  | { readonly kind: 'delete' };

const keep: TokenFate = { kind: 'keep' };

/** Labels and ConfigMap contain UTC days. Days compare as strings. */
export function formatDay(ms: number): string {
  return formatTime(ms).slice(0, 10);
}

/** The start of the day; undefined if the text is not a valid day. */
export function parseDay(day: string | undefined): number | undefined {
  if (day === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined;
  const ms = parseTime(`${day}T00:00:00Z`);
  return ms === undefined || formatDay(ms) !== day ? undefined : ms; // 31 February would become 3 March
}

/** Whether the API server has tracked uses long enough to know that a token without a use is unused. */
export function isTrackedLongEnough(trackedSince: string | undefined, nowMs: number, periodMs: number): boolean {
  const since = parseDay(trackedSince);
  // Tracking started at some time of that day, at the latest at its end.
  return since !== undefined && nowMs >= since + dayMs + periodMs;
}

/** Whether a token was created and last used so long ago that it may be removed. */
export function isLongUnused({ metadata }: Cached<Secret>, nowMs: number, periodMs: number): boolean {
  if (isBeingDeleted(metadata)) return false;
  const createdMs = parseTime(metadata.creationTimestamp);
  if (createdMs === undefined || createdMs >= nowMs - periodMs) return false;
  const lastUsed = metadata.labels?.[lastUsedLabel];
  if (lastUsed === undefined) return true;
  return parseDay(lastUsed) !== undefined && lastUsed < formatDay(nowMs - periodMs); // a token with an invalid label is kept
}

/** The next step for an unused token: invalidate it, and delete it after the same period again. */
export function computeFate({ metadata }: Cached<Secret>, nowMs: number, periodMs: number): TokenFate {
  const invalidSince = metadata.labels?.[invalidSinceLabel];
  if (invalidSince === undefined || parseDay(invalidSince) === undefined) {
    return { kind: 'invalidate', since: formatDay(nowMs) };
  }
  return invalidSince < formatDay(nowMs - periodMs) ? { kind: 'delete' } : keep;
}
