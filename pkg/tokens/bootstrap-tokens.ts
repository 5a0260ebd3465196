import { formatTime, ownValue, parseTime, type Cached, type Secret } from '../api/index.ts';
import type { InformerSelection } from '../../informers/index.ts';

export const bootstrapTokenType = 'bootstrap.kubernetes.io/token';

/** Tokens in other namespaces are of no effect. */
export const bootstrapTokenNamespace = 'kube-system';

/** Selects the Secrets that hold bootstrap tokens. No other Secret is watched. */
export const bootstrapTokens: InformerSelection = { fieldSelector: `type=${bootstrapTokenType}` };

export type TokenSecret = Cached<Pick<Secret, 'metadata' | 'data'>>;

/** One entry of a token Secret, decoded. Empty if it is absent. */
export function tokenField({ data }: TokenSecret, name: string): string {
  return Buffer.from(ownValue(data ?? {}, name) ?? '', 'base64').toString();
}

export type TokenExpiry =
  | { readonly kind: 'never' }
  | { readonly kind: 'later'; readonly inMs: number }
  | { readonly kind: 'expired' };

/** When the token expires. A time that cannot be read counts as past: it was meant to limit the token. */
export function computeTokenExpiry(secret: TokenSecret, nowMs: number): TokenExpiry {
  const text = tokenField(secret, 'expiration');
  if (text === '') return { kind: 'never' };
  const atMs = parseStrictTime(text);
  return atMs === undefined || atMs <= nowMs ? { kind: 'expired' } : { kind: 'later', inMs: atMs - nowMs };
}

const rfc3339 = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;

/** RFC 3339 and nothing else. `parseTime` also reads other formats, and takes 31 February for 3 March. */
function parseStrictTime(text: string): number | undefined {
  const [, day = '', time = '', fraction = '0', zone = ''] = rfc3339.exec(text) ?? [];
  const wholeMs = parseTime(`${day}T${time}Z`);
  if (wholeMs === undefined || formatTime(wholeMs) !== `${day}T${time}Z`) return undefined;
  return parseTime(`${day}T${time}.${fraction.slice(0, 3)}${zone}`);
}
