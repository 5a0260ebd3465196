import { ExactInteger } from './exact-integer.ts';
import { setOwn } from './own.ts';

/**
 * An object that lives in a cache and is shared by every reader: read-only all the way down, by type.
 * To change one, take a `copyOf` it first.
 */
export type Cached<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Cached<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Cached<T[K]> }
      : T;

/** A deep copy that its owner may change. Objects from the wire are JSON, so nothing but plain data has to be copied. */
export function copyOf<T>(object: Cached<T> | T): T {
  return copyValue(object) as T;
}

function copyValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactInteger) return value;
  if (Array.isArray(value)) return value.map(copyValue);
  const copy: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) setOwn(copy, name, copyValue(field));
  return copy;
}
