import { ExactInteger } from './exact-integer.ts';
import { ownValue } from './own.ts';

/**
 * Whether two JSON values mean the same to the API server. A field that is `undefined` counts as absent. With
 * `emptyIsAbsent`, `null`, empty arrays and empty objects count as absent too: Go omits them when it writes JSON.
 */
export function isEqualJson(a: unknown, b: unknown, options?: { readonly emptyIsAbsent?: boolean }): boolean {
  if (a === b) return true;
  if (options?.emptyIsAbsent === true && isEmpty(a) && isEmpty(b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof ExactInteger || b instanceof ExactInteger) return false; // equal ones are the same object
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => isEqualJson(item, b[index], options));
  }
  return isEqualObject(a as Fields, b as Fields, options);
}

type Fields = Readonly<Record<string, unknown>>;

function isEqualObject(a: Fields, b: Fields, options: { readonly emptyIsAbsent?: boolean } | undefined): boolean {
  for (const name in a) {
    if (!isEqualJson(a[name], ownValue(b, name), options)) return false;
  }
  for (const name in b) {
    if (!Object.hasOwn(a, name) && !isEqualJson(undefined, b[name], options)) return false;
  }
  return true;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'object' || value instanceof ExactInteger) return false;
  for (const name in value) {
    if (!isEmpty((value as Fields)[name])) return false;
  }
  return true;
}
