import { setOwn, ExactInteger, parseInt64 } from '../../api/index.ts';
import { canonicalQuantity } from '../../quantities/index.ts';
import type { Field, ObjectType, ScalarName, ValueType } from './schema.ts';

export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactInteger);
}

/** Problems of an object that do not prevent it from being decoded. */
export interface Findings {
  /** Paths of fields that the type does not have. They are dropped. */
  readonly unknown: string[];
}

/** A value whose type is not that of its field: the object cannot be decoded. */
export class TypeMismatch extends Error {
  override readonly name = 'TypeMismatch';
  readonly reason = 'BadRequest';
}

/**
 * The object as Go would encode it after decoding it: unknown fields, nulls and empty values are dropped, and fields
 * that Go always writes are present. Throws `TypeMismatch`.
 */
export function conform(object: Fields, type: ObjectType, findings: Findings): Fields {
  return conformObject(object, type, '', findings);
}

function conformObject(object: Fields, type: ObjectType, path: string, findings: Findings): Fields {
  const result: Fields = {};
  for (const [name, value] of Object.entries(object)) {
    if (!type.fields.has(name) && value !== undefined) findings.unknown.push(path === '' ? name : `${path}.${name}`);
  }
  for (const [name, field] of type.fields) {
    const inner = path === '' ? name : `${path}.${name}`;
    const given = Object.hasOwn(object, name) ? object[name] : undefined;
    const value = given === null || given === undefined ? undefined : conformValue(given, field.type, inner, findings);
    const written = asWritten(value, field, inner, findings);
    if (written !== undefined) result[name] = written;
  }
  return result;
}

function asWritten(value: unknown, field: Field, path: string, findings: Findings): unknown {
  if (value === undefined) return field.zero === 'keep' ? zeroOf(field.type, path, findings) : undefined;
  if (field.zero === 'drop' && isZero(value)) return undefined;
  return value;
}

function isZero(value: unknown): boolean {
  if (value === '' || value === 0 || value === false) return true;
  if (typeof value !== 'object' || value === null || value instanceof ExactInteger) return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

function zeroOf(type: ValueType, path: string, findings: Findings): unknown {
  switch (type.kind) {
    case 'object':
      return conformObject({}, type.type, path, findings);
    // Go writes null for a list that was never set. No reader distinguishes that from an empty list.
    case 'list':
      return [];
    case 'map':
      return {};
    case 'scalar':
      return scalarZeros[type.name];
  }
}

const scalarZeros: Readonly<Record<ScalarName, unknown>> = {
  string: '',
  integer: 0,
  number: 0,
  boolean: false,
  time: null,
  microtime: null,
  quantity: '0',
  'int-or-string': 0,
  bytes: null,
  any: undefined,
};

function conformValue(value: unknown, type: ValueType, path: string, findings: Findings): unknown {
  switch (type.kind) {
    case 'scalar':
      return conformScalar(value, type.name, path);
    case 'list':
      if (!Array.isArray(value)) throw mismatch(value, path, 'list');
      return value.map((item, index) => {
        const inner = `${path}[${index}]`;
        return item === null ? zeroOf(type.item, inner, findings) : conformValue(item, type.item, inner, findings);
      });
    case 'map': {
      if (!isFields(value)) throw mismatch(value, path, 'map');
      const result: Fields = {};
      for (const [name, item] of Object.entries(value)) {
        const inner = `${path}.${name}`;
        const written =
          item === null ? zeroOf(type.value, inner, findings) : conformValue(item, type.value, inner, findings);
        setOwn(result, name, written);
      }
      return result;
    }
    case 'object':
      if (!isFields(value)) throw mismatch(value, path, type.type.name.split('.').at(-1) ?? '');
      return conformObject(value, type.type, path, findings);
  }
}

function conformScalar(value: unknown, name: ScalarName, path: string): unknown {
  switch (name) {
    case 'any':
      return value;
    case 'boolean':
      if (typeof value !== 'boolean') throw mismatch(value, path, 'bool');
      return value;
    case 'integer':
      if (value instanceof ExactInteger && parseInt64(value.toString()) !== undefined) return value;
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw mismatch(value, path, 'int64');
      return value;
    case 'number':
      if (value instanceof ExactInteger) return value;
      if (typeof value !== 'number') throw mismatch(value, path, 'float64');
      return value;
    case 'int-or-string':
      if (typeof value !== 'string' && !Number.isInteger(value)) throw mismatch(value, path, 'IntOrString');
      return value;
    case 'quantity': {
      const quantity = typeof value === 'number' || typeof value === 'string' ? canonicalQuantity(value) : undefined;
      if (quantity === undefined) throw mismatch(value, path, 'Quantity');
      return quantity;
    }
    case 'time':
    case 'microtime':
      if (typeof value !== 'string') throw mismatch(value, path, 'Time');
      return conformTime(value, name, path);
    case 'string':
    case 'bytes':
      if (typeof value !== 'string') throw mismatch(value, path, 'string');
      return value;
  }
}

/** Cuts off digits of a second that the type does not have, and converts to UTC. */
function conformTime(text: string, name: 'time' | 'microtime', path: string): string {
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || !/^\d{4}-\d\d-\d\dT/.test(text)) throw mismatch(text, path, 'Time');
  const utc = new Date(ms).toISOString();
  if (name === 'time') return `${utc.slice(0, 19)}Z`;
  const digits = /\.(\d+)/.exec(text)?.[1] ?? '';
  return `${utc.slice(0, 19)}.${digits.slice(0, 6).padEnd(6, '0')}Z`;
}

function mismatch(value: unknown, path: string, wanted: string): TypeMismatch {
  const found = Array.isArray(value) ? 'array' : typeof value;
  return new TypeMismatch(`json: cannot unmarshal ${found} into Go struct field .${path} of type ${wanted}`);
}
