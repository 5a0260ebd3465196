import { isOneOf, type Choose } from './choose.ts';
import type { FieldType } from './schema.ts';
import * as vocabulary from './vocabulary.ts';

/** The fields of an owner in an owner reference. */
export type Owner = Readonly<Record<'apiVersion' | 'kind' | 'name' | 'uid', string>>;

/** The contents of the cluster, for values that refer to objects. */
export interface Surroundings {
  /** Existing objects, for owner references. */
  readonly owners: readonly Owner[];
  readonly nodes: readonly string[];
  /** Label, annotation and finalizer names that controllers know. */
  readonly knownKeys: readonly string[];
  readonly nowMs: number;
}

const MAX_DEPTH = 9;

/**
 * A value for a field: absent (undefined), null, empty, extreme or ordinary. The type decides the form, and the name of
 * the field suggests meaningful values. The server decides whether it is legal.
 */
export function hostileValue(
  { name, type, depth = 0 }: { readonly name: string; readonly type: FieldType; readonly depth?: number },
  choose: Choose,
  around: Surroundings,
): unknown {
  if (choose.chance(0.08)) return null;
  const inner = (field: string, fieldType: FieldType): unknown =>
    hostileValue({ name: field, type: fieldType, depth: depth + 1 }, choose, around);
  switch (type.kind) {
    case 'object':
      if (name === 'ownerReferences') return ownerReference(choose, around);
      if (depth > MAX_DEPTH) return {};
      return objectOf(
        [...type.fields]
          .filter(([field]) => type.required.has(field) || choose.chance(depth < 2 ? 0.6 : 0.35))
          .map(([field, read]) => [field, inner(field, read())]),
      );
    case 'map':
      return objectOf(
        Array.from({ length: choose.below(4) }, () => [
          choose.from(vocabulary.keysFor(name, around.knownKeys)),
          inner(name, type.values()),
        ]),
      );
    case 'list':
      if (depth > MAX_DEPTH) return [];
      return Array.from({ length: choose.from([0, 1, 1, 2, 3]) }, () => inner(name, type.items())).filter(
        (item) => item !== null || choose.chance(0.1),
      );
    case 'anything':
      return choose.from([{}, { constructor: null }, objectOf([['__proto__', {}]]), { toString: 'x', valueOf: [1] }]);
    default:
      return scalar(name, type, { choose, around });
  }
}

function scalar(
  name: string,
  type: Exclude<FieldType, { readonly kind: 'object' | 'map' | 'list' | 'anything' }>,
  { choose, around }: { readonly choose: Choose; readonly around: Surroundings },
): unknown {
  switch (type.kind) {
    case 'string':
      if (type.options.length > 0 && choose.chance(0.95)) return choose.from(type.options);
      return choose.from(vocabulary.textFor(name, around));
    case 'integer':
      return choose.from(type.bits === 32 || choose.chance(0.5) ? vocabulary.int32s : vocabulary.int64s);
    case 'number':
      return choose.from([0, -1, 0.5, 1e300, 5e-324]);
    case 'boolean':
      return choose.chance(0.5);
    case 'time':
      return choose.from(vocabulary.times(around.nowMs));
    case 'microTime':
      return choose.from(vocabulary.times(around.nowMs))?.replace('Z', '.000000Z') ?? null;
    case 'bytes':
      return choose.from(vocabulary.texts.map((text) => Buffer.from(text).toString('base64')));
    case 'quantity':
      return choose.from(vocabulary.quantities);
    default:
      return choose.from([...vocabulary.int32s, '0%', '1%', '100%', '2147483647%', 'http', 'constructor', '']);
  }
}

/** A reference to an existing object, to none, or one that is partly right. */
function ownerReference(choose: Choose, { owners }: Surroundings): object {
  const nobody = {
    apiVersion: choose.from(['v1', 'apps/v1', 'batch/v1', 'nowhere.example.com/v1']),
    kind: choose.from(['Pod', 'ReplicaSet', 'Job', 'Node', 'constructor']),
    name: choose.from(['nobody', 'constructor', '__proto__', '../nodes']),
    uid: choose.from(['00000000-0000-0000-0000-000000000000', 'constructor', 'ü']),
  };
  const somebody = owners.length === 0 ? nobody : choose.from(owners);
  return {
    ...(choose.chance(0.3) ? nobody : somebody),
    ...(choose.chance(0.2) && { uid: nobody.uid }),
    ...(choose.chance(0.2) && { kind: nobody.kind }),
    ...(choose.chance(0.5) && { controller: choose.from([true, false, null]) }),
    ...(choose.chance(0.5) && { blockOwnerDeletion: choose.from([true, false, null]) }),
  };
}

/** The minimal value of a type: what an ordinary client would send for a required field. */
export function plainValue(name: string, type: FieldType): unknown {
  switch (type.kind) {
    case 'object':
      return objectOf(
        [...type.fields]
          .filter(([field]) => type.required.has(field))
          .map(([field, read]) => [field, plainValue(field, read())]),
      );
    case 'list':
      return [plainValue(name, type.items())];
    case 'map':
    case 'anything':
      return {};
    case 'string':
      return type.options.find((option) => option !== '') ?? vocabulary.plainText(name);
    case 'integer':
    case 'number':
    case 'intOrString':
      return 1;
    case 'boolean':
      return true;
    case 'time':
      return '2024-01-01T00:00:00Z';
    case 'microTime':
      return '2024-01-01T00:00:00.000000Z';
    case 'bytes':
      return '';
    case 'quantity':
      return '1';
  }
}

/** Also supports a field called `__proto__`, and omits absent ones. */
function objectOf(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/**
 * Fields that stay as they are. `generation` among them: a Service may be created with the largest int64, the next update
 * makes it negative, and from then on the server refuses every update, so that nobody can remove a finalizer.
 */
const untouchable = [
  'name',
  'namespace',
  'generateName',
  'resourceVersion',
  'uid',
  'managedFields',
  'generation',
  'apiVersion',
  'kind',
];

/**
 * Changes an object in place: walks from its root to a random field and sets a hostile value there. In a list, the walk
 * continues in the first item, or adds an item.
 */
export function disturb(object: object, type: FieldType, choose: Choose, around: Surroundings): void {
  let at: unknown = object;
  let here = type;
  for (let depth = 0; here.kind === 'object' && isRecord(at); depth++) {
    const names = [...here.fields.keys()].filter(
      (name) => name !== 'status' && !(depth < 2 && isOneOf(name, untouchable)),
    );
    if (names.length === 0) return;
    const name = choose.from(names);
    const field = here.fields.get(name)?.();
    if (field === undefined) return;
    const inside = enter(at, name, field, choose);
    if (inside === undefined) {
      const value = hostileValue({ name, type: field, depth }, choose, around);
      put(at, name, value);
      return;
    }
    [at, here] = [inside.value, inside.type];
  }
}

/** The object inside a field in which the walk continues; undefined where it ends. */
function enter(
  at: Readonly<Record<string, unknown>>,
  name: string,
  type: FieldType,
  choose: Choose,
): { readonly value: unknown; readonly type: FieldType } | undefined {
  const value = Object.hasOwn(at, name) ? at[name] : undefined;
  if (name !== 'metadata' && choose.chance(0.15)) return undefined; // an object without its name could not be updated
  if (type.kind === 'object' && isRecord(value)) return { value, type };
  if (type.kind !== 'list' || !Array.isArray(value) || !isRecord(value[0])) return undefined;
  return { value: value[0], type: type.items() };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets an own field, `__proto__` too; undefined removes it. */
export function put(object: object, name: string, value: unknown): void {
  if (value === undefined) Reflect.deleteProperty(object, name);
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
