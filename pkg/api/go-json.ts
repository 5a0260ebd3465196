import { ExactInteger } from './exact-integer.ts';

/**
 * JSON as Go writes a map: sorted keys, and characters escaped that HTML or JavaScript would read. Go's own decoder makes
 * every number a float64, that of Kubernetes keeps integers. Without a `creationTimestamp` that is null: Go wrote it into
 * templates until Kubernetes 1.33. Other members that are null stay, as the sources of a projected volume without any.
 */
export function goJson(value: unknown, integers: 'float64' | 'int64' = 'float64'): string {
  if (value instanceof ExactInteger) return integers === 'int64' ? String(value) : JSON.stringify(value.valueOf());
  if (typeof value === 'string') return goString(value);
  if (Array.isArray(value)) return `[${value.map((item) => goJson(item, integers)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([name, field]) => field !== undefined && (field !== null || name !== 'creationTimestamp'))
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, field]) => `${goString(name)}:${goJson(field, integers)}`);
  return `{${members.join(',')}}`;
}

const escaped = /[<>&\u2028\u2029]/g;

function goString(text: string): string {
  return JSON.stringify(text).replaceAll(escaped, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
