import { formatTime, parseTime, isBeingDeleted, type Cached, type Secret } from '../../pkg/api/index.ts';

/** Set by the API server on the day a token was last used. */
export const lastUsedLabel = 'kubernetes.io/legacy-token-last-used';
/** Makes the API server refuse a token. */
export const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since';

const dayMs = 24 * 3600 * 1000;

export type TokenFate =
  | { readonly kind: 'keep' }
  | { readonly kind: 'invalidate'; readonly since: string }
  | { readonly kind: 'delete' };

const keep: TokenFate = { kind: 'keep' };

/** The labels and the server's record tell days alone, in UTC. Days compare as text. */
export function formatDay(ms: number): string {
  return formatTime(ms).slice(0, 10);
}

/** The start of the day; undefined for what is no day. */
export function parseDay(day: string | undefined): number | undefined {
  if (day === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined;
  const ms = parseTime(`${day}T00:00:00Z`);
  return ms === undefined || formatDay(ms) !== day ? undefined : ms; // 31 February would become 3 March
}

/** Whether the server has recorded uses for so long that a token without any is known to be unused. */
export function isTrackedLongEnough(trackedSince: string | undefined, nowMs: number, periodMs: number): boolean {
  const since = parseDay(trackedSince);
  // Recording began at some time of that day, at the latest when it ended.
  return since !== undefined && nowMs >= since + dayMs + periodMs;
}

/** Whether a token was created and last used so long ago that it may go, if it was generated and nobody mounts it. */
export function isLongUnused({ metadata }: Cached<Secret>, nowMs: number, periodMs: number): boolean {
  if (isBeingDeleted(metadata)) return false;
  const createdMs = parseTime(metadata.creationTimestamp);
  if (createdMs === undefined || createdMs >= nowMs - periodMs) return false;
  const lastUsed = metadata.labels?.[lastUsedLabel];
  if (lastUsed === undefined) return true;
  return parseDay(lastUsed) !== undefined && lastUsed < formatDay(nowMs - periodMs); // what cannot be read, stays
}

/** What to do with a token that may go: first it is made invalid, and deleted when nobody has minded for as long again. */
export function computeFate({ metadata }: Cached<Secret>, nowMs: number, periodMs: number): TokenFate {
  const invalidSince = metadata.labels?.[invalidSinceLabel];
  if (invalidSince === undefined || parseDay(invalidSince) === undefined) {
    return { kind: 'invalidate', since: formatDay(nowMs) };
  }
  return invalidSince < formatDay(nowMs - periodMs) ? { kind: 'delete' } : keep;
}
