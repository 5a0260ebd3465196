import { ExactInteger } from './exact-integer.ts';
import { setOwn } from './own.ts';
import { RawJson } from './raw-json.ts';

/**
 * An object from a cache. Every reader shares it, so its type is deeply read-only. To change one, make a `copyOf` it
 * first.
 */
export type Cached<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Cached<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Cached<T[K]> }
      : T;

/** A deep copy that the caller may change. Objects of the API are JSON, so only plain data has to be copied. */
export function copyOf<T>(object: Cached<T> | T): T {
  return copyValue(object) as T;
}

/** Freezes an object with all its parts, and returns it: code that changes it then fails at once. */
export function freezeDeep<T>(object: T): T {
  if (typeof object !== 'object' || object === null || Object.isFrozen(object)) return object;
  Object.freeze(object);
  for (const field of Object.values(object)) freezeDeep(field);
  return object;
}

function copyValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactInteger) return value;
  if (Array.isArray(value)) return value.map(copyValue);
  if (value instanceof RawJson) return value.toJSON();
  const copy: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) setOwn(copy, name, copyValue(field));
  return copy;
}
