import { ExactInteger, type Cached, type PodTemplateSpec } from '../../pkg/api/index.ts';

/**
 * The hash of a pod template. It must never change for the same template, not even between releases: it is part of names
 * and selectors in the cluster. `collisionCount` gives another hash if the first name is taken.
 */
export function templateHash(template: Cached<PodTemplateSpec>, collisionCount: number | undefined): string {
  const text = canonicalJson(template) + (collisionCount === undefined ? '' : `#${collisionCount}`);
  return String(fnv1a32(text)).replaceAll(/\d/g, (digit) => safeDigits.charAt(Number(digit)));
}

/** No vowels and no digits that look like vowels, so that no hash spells a word. */
const safeDigits = 'bcdfghjklm';

/** JSON with sorted keys: the order of fields does not matter. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null || value instanceof ExactInteger) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined && field !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`);
  return `{${fields.join(',')}}`;
}

function fnv1a32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, 'utf8')) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return hash >>> 0;
}
