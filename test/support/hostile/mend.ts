import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { Choose } from './choose.ts';
import type { FieldType } from './schema.ts';
import { isRecord, plainValue, put } from './values.ts';

type Path = readonly (string | number)[];

const refusal = z.object({
  message: z.string().optional(),
  details: z
    .object({
      causes: z
        .array(
          z.object({ reason: z.string().optional(), message: z.string().optional(), field: z.string().optional() }),
        )
        .optional(),
    })
    .optional(),
});

interface Attempt {
  /** The refused object, which is changed in place. */
  readonly object: object;
  /** An object that is probably legal: refused fields get their value here. */
  readonly base: object;
  /** The server's Status. */
  readonly answer: unknown;
}

/** Resets refused fields. False if the object already equals its base. */
export function mend({ object, base, answer }: Attempt, choose: Choose): boolean {
  const status = refusal.safeParse(answer).data;
  const paths = (status?.details?.causes ?? []).map(({ field = '' }) => parsePath(field)).filter((path) => path.length);
  let mended = false;
  for (const path of paths) mended = resetAt(object, base, path) || mended;
  if (mended) return true;
  // A body that cannot be decoded is refused without a field: reset about half of the changes.
  const changed = changes(object, base);
  const given = changed.filter(() => changed.length === 1 || choose.chance(0.5));
  for (const path of given) resetAt(object, base, path);
  return changed.length > 0;
}

/** Sets the fields that the server requires, in an object generated from the schema. False if it cannot. */
export function complete(object: object, type: FieldType, answer: unknown): boolean {
  let changed = false;
  for (const { field = '', message = '' } of refusal.safeParse(answer).data?.details?.causes ?? []) {
    const path = parsePath(field);
    const name = path.at(-1);
    const supported = /supported values: "((?:[^"\\]|\\.)*)"/i.exec(message)?.[1];
    const at = typeof name === 'string' ? enterPath(object, type, path.slice(0, -1)) : undefined;
    if (at === undefined || typeof name !== 'string') continue;
    const fieldType = at.type.kind === 'object' ? at.type.fields.get(name)?.() : undefined;
    const before = Object.hasOwn(at.value, name) ? at.value[name] : undefined;
    const value =
      supported ?? (fieldType === undefined || before !== undefined ? undefined : plainValue(name, fieldType));
    if (isDeepStrictEqual(before, value)) continue;
    put(at.value, name, value);
    changed = true;
  }
  return changed;
}

/** Finds a place inside an object, and creates the objects on the way. */
function enterPath(
  object: object,
  type: FieldType,
  path: Path,
): { readonly value: Record<string, unknown>; readonly type: FieldType } | undefined {
  let value: unknown = object;
  let here = type;
  for (const step of path) {
    const next: FieldType | undefined =
      here.kind === 'object' ? here.fields.get(String(step))?.() : here.kind === 'list' ? here.items() : undefined;
    if (next === undefined || typeof value !== 'object' || value === null) return undefined;
    if (childOf(value, step) === undefined) put(value, String(step), next.kind === 'list' ? [] : {});
    value = childOf(value, step);
    here = next;
  }
  return isRecord(value) ? { value, type: here } : undefined;
}

/** `spec.containers[0].env[1].name`, `data[a.b]` as steps. */
function parsePath(field: string): Path {
  return [...field.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, key, name = '']) =>
    key === undefined ? name : /^\d+$/.test(key) ? Number(key) : key,
  );
}

function childOf(value: unknown, step: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Readonly<Record<string | number, unknown>>)[step];
}

const at = (object: unknown, path: Path): unknown => path.reduce(childOf, object);

/** Resets the nearest place, from the path upwards, where object and base differ. */
function resetAt(object: object, base: object, path: Path): boolean {
  for (let length = path.length; length > 0; length--) {
    const here = path.slice(0, length);
    const before = at(base, here);
    if (isDeepStrictEqual(at(object, here), before)) continue;
    const parent = at(object, here.slice(0, -1));
    const step = here.at(-1);
    if (typeof parent !== 'object' || parent === null || step === undefined) continue;
    if (Array.isArray(parent) && before === undefined) parent.splice(Number(step), 1);
    else put(parent, String(step), structuredClone(before));
    return true;
  }
  return false;
}

/** Where two objects differ, three levels deep. */
function changes(object: unknown, base: unknown, path: Path = []): Path[] {
  if (isDeepStrictEqual(object, base)) return [];
  if (path.length === 3 || !isRecord(object) || !isRecord(base)) return [path];
  const names = new Set([...Object.keys(object), ...Object.keys(base)]);
  return [...names].flatMap((name) => changes(childOf(object, name), childOf(base, name), [...path, name]));
}
