import type { Encoding } from '../../protobuf/index.ts';
import { DefectError } from '../failure.ts';
import builtIn from './built-in.json' with { type: 'json' };

/** `any` is JSON of any form. */
export type ScalarName = Exclude<Encoding, 'json' | 'strings'> | 'any';

/** The type of a value in a built-in object. */
export type ValueType =
  | { readonly kind: 'scalar'; readonly name: ScalarName }
  | { readonly kind: 'list'; readonly item: ValueType }
  | { readonly kind: 'map'; readonly value: ValueType }
  | { readonly kind: 'object'; readonly type: ObjectType };

export interface Field {
  readonly type: ValueType;
  /** How Go writes a zero value: always, never, or as it was given. */
  readonly zero: 'keep' | 'drop' | 'given';
  readonly required: boolean;
  /** For strategic merge patches: the field that identifies the items of this list. */
  readonly mergeKey: string | undefined;
  /** For strategic merge patches: `merge`, `replace`, `retainKeys`. */
  readonly strategies: readonly string[];
  /** For server-side apply. */
  readonly listType: string | undefined;
  readonly listKeys: readonly string[];
  readonly default: unknown;
  readonly values: readonly string[];
}

export interface ObjectType {
  /** The name in OpenAPI: `io.k8s.api.apps.v1.Deployment`. */
  readonly name: string;
  /** Server-side apply treats it as atomic. */
  readonly atomic: boolean;
  readonly fields: ReadonlyMap<string, Field>;
  /** The protobuf encoding: a field by its number, or a type whose fields are inlined in JSON. */
  readonly numbers: ReadonlyMap<number, string | ObjectType>;
}

/** The form in the file. Names are short, since each occurs thousands of times. */
interface WireField {
  readonly t: string;
  readonly z?: string;
  readonly r?: boolean;
  readonly k?: string;
  readonly s?: string;
  readonly lt?: string;
  readonly lk?: readonly string[];
  readonly d?: unknown;
  readonly e?: readonly string[];
}

interface WireType {
  readonly mt?: string;
  readonly f: Readonly<Record<string, WireField>>;
  readonly p?: Readonly<Record<string, string | undefined>>;
}

const wireTypes: Readonly<Record<string, WireType>> = builtIn.types;
const known = new Map<string, ObjectType>();

/** The description of a built-in type. Throws for a name that is not in the file. */
export function objectType(name: string): ObjectType {
  const present = known.get(name);
  if (present !== undefined) return present;
  const wire = wireTypes[name];
  if (wire === undefined) throw new DefectError(`the type ${name} is not described`);
  const fields = new Map<string, Field>();
  const numbers = new Map<number, string | ObjectType>();
  const type: ObjectType = { name, atomic: wire.mt === 'atomic', fields, numbers };
  known.set(name, type); // before its fields are read: some types hold themselves
  // What an object is comes first in it, so that a list can leave it out of its items without reading them.
  for (const field of ['apiVersion', 'kind'])
    if (wire.f[field] !== undefined) fields.set(field, readField(wire.f[field]));
  for (const [field, described] of Object.entries(wire.f)) {
    if (!fields.has(field)) fields.set(field, readField(described));
  }
  for (const [number, target = ''] of Object.entries(wire.p ?? {})) {
    numbers.set(Number(number), target.startsWith('@') ? objectType(target.slice(1)) : target);
  }
  return type;
}

function readField(wire: WireField): Field {
  return {
    type: readType(wire.t),
    zero: wire.z === 'keep' || wire.z === 'drop' ? wire.z : 'given',
    required: wire.r === true,
    mergeKey: wire.k,
    strategies: wire.s === undefined ? [] : wire.s.split(','),
    listType: wire.lt,
    listKeys: wire.lk ?? [],
    default: wire.d,
    values: wire.e ?? [],
  };
}

function readType(text: string): ValueType {
  if (text.startsWith('[]')) return { kind: 'list', item: readType(text.slice(2)) };
  if (text.startsWith('{}')) return { kind: 'map', value: readType(text.slice(2)) };
  if (!text.startsWith('#')) return { kind: 'scalar', name: text as ScalarName }; // the generator writes no others
  const name = text.slice(1);
  return {
    kind: 'object',
    get type(): ObjectType {
      return objectType(name);
    },
  };
}
