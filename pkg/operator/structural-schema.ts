import * as z from 'zod';

import { isEqualJson } from '../api/index.ts';
import { DefinitionError } from './definition-error.ts';

/** An OpenAPI v3 schema that follows the rules of structural schemas. */
export type StructuralSchema = Readonly<Record<string, unknown>>;

type Schema = Record<string, unknown>;

/** The formats that kube-apiserver checks. */
const knownFormats = new Set(
  'byte cidr date date-time double duration email float hostname int32 int64 ipv4 ipv6 mac password uri uuid'.split(
    ' ',
  ),
);
const jsonBounds = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const int32Bounds = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/**
 * The schema of a custom resource's field, as a CustomResourceDefinition needs it. Throws a `DefinitionError` that names
 * the field for what a structural schema cannot express: transforms, refinements, dates, unions of different types.
 * Extensions such as `x-kubernetes-list-type` and `x-kubernetes-validations` are given with zod's `meta`.
 */
export function structuralSchema(schema: z.ZodType, path: string): StructuralSchema {
  try {
    // Input: a field with a default is not required, because the API server fills it in.
    const json = z.toJSONSchema(schema, {
      target: 'openapi-3.0',
      io: 'input',
      cycles: 'throw',
      override: ({ zodSchema, path: within }) => refuseCode(zodSchema, fieldPath(path, within)),
    });
    return convert(json, path);
  } catch (error) {
    if (error instanceof DefinitionError) throw error;
    throw new DefinitionError(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Refuses functions of the author: the API server cannot run them, and a cached object has not been through them. */
function refuseCode({ _zod: { def } }: z.core.$ZodTypes, path: string): void {
  if (def.type === 'pipe' || def.type === 'transform')
    throw new DefinitionError(
      `${path}: a transform changes objects, but caches have them as the API server sends them`,
    );
  const checks = (def.checks ?? []).map((check) => check._zod.def.check);
  if (checks.includes('overwrite')) throw new DefinitionError(`${path}: the API server cannot change values`);
  if (checks.includes('custom'))
    throw new DefinitionError(
      `${path}: the API server cannot run a refinement: use x-kubernetes-validations in meta()`,
    );
}

/** zod's path goes through the JSON schema, such as `properties`, `replicas`. */
function fieldPath(root: string, within: readonly (string | number)[]): string {
  return within.reduce<string>((path, step, index) => {
    if (step === 'items') return `${path}[]`;
    if (step === 'additionalProperties') return `${path}.*`;
    return within[index - 1] === 'properties' ? `${path}.${step}` : path;
  }, root);
}

function convert(given: unknown, path: string): Schema {
  if (!isSchema(given)) return { 'x-kubernetes-preserve-unknown-fields': true };
  const { $schema: _, id: _id, ...json } = given;
  const alternatives = json['anyOf'] ?? json['oneOf'];
  if (Array.isArray(alternatives)) return convertUnion(json, alternatives.filter(isSchema), path);
  if (json['allOf'] !== undefined)
    throw new DefinitionError(`${path}: use z.object().extend() instead of z.intersection`);
  if (json['not'] !== undefined) throw new DefinitionError(`${path}: no value is allowed here`);
  if (json['type'] === undefined && json['enum'] === undefined) {
    return { ...json, 'x-kubernetes-preserve-unknown-fields': true };
  }
  switch (json['type']) {
    case 'object':
      return convertObject(json, path);
    case 'array':
      return convertArray(json, path);
    case 'integer':
      return convertInteger(json);
    case 'string':
      return convertString(json, path);
    case undefined:
      throw new DefinitionError(`${path}: the values of an enum must have the same type`);
    default:
      return json;
  }
}

function convertObject(json: Schema, path: string): Schema {
  const { additionalProperties, propertyNames: _, properties: given, ...rest } = json;
  const properties = isSchema(given) ? given : {};
  const converted = Object.entries(properties).map(([name, value]) => [name, convert(value, `${path}.${name}`)]);
  const fields: Schema = converted.length === 0 ? {} : { properties: Object.fromEntries(converted) };
  const isOpen = isSchema(additionalProperties) && Object.keys(additionalProperties).length === 0;
  if (isOpen) return { ...rest, ...fields, 'x-kubernetes-preserve-unknown-fields': true };
  // The server prunes unknown fields. A structural schema may not also forbid them.
  if (!isSchema(additionalProperties)) return { ...rest, ...fields };
  if (converted.length > 0) throw new DefinitionError(`${path}: an object has either named fields or a catchall`);
  return { ...rest, additionalProperties: convert(additionalProperties, `${path}.*`) };
}

function convertArray(json: Schema, path: string): Schema {
  return { ...json, items: convert(json['items'], `${path}[]`) };
}

function convertInteger(json: Schema): Schema {
  const { minimum, maximum, ...rest } = json;
  const isInt32 = Number(minimum) >= int32Bounds.minimum && Number(maximum) <= int32Bounds.maximum;
  const bounds: Schema = { format: isInt32 ? 'int32' : 'int64' };
  // Bounds that any number of the format has are not the author's.
  const implied = isInt32 ? int32Bounds : jsonBounds;
  if (minimum !== undefined && minimum !== implied.minimum) bounds['minimum'] = minimum;
  if (maximum !== undefined && maximum !== implied.maximum) bounds['maximum'] = maximum;
  return { ...rest, ...bounds };
}

function convertString(json: Schema, path: string): Schema {
  const { format, pattern, ...rest } = json;
  if (typeof format === 'string' && knownFormats.has(format)) return { ...rest, format };
  if (typeof pattern !== 'string') return rest;
  // The server reads patterns with Go's regexp.
  if (/\(\?(?:[=!]|<[=!])/.test(pattern)) {
    throw new DefinitionError(`${path}: the pattern ${pattern} looks ahead or behind, which the API server cannot`);
  }
  return { ...rest, pattern };
}

function convertUnion(json: Schema, alternatives: readonly Schema[], path: string): Schema {
  const { anyOf: _, oneOf: _one, ...rest } = json;
  const types = new Set(alternatives.map(({ type }) => type));
  const isIntOrString = types.size === 2 && types.has('string') && (types.has('integer') || types.has('number'));
  if (isIntOrString) return { ...rest, 'x-kubernetes-int-or-string': true };
  if (types.size === 1 && types.has('string') && alternatives.every((each) => Array.isArray(each['enum']))) {
    return { ...rest, type: 'string', enum: alternatives.flatMap((each) => each['enum']) };
  }
  const keyword = json['oneOf'] === undefined ? 'anyOf' : 'oneOf';
  if (types.size === 1 && types.has('object')) {
    const { properties, demands } = mergeObjects(alternatives, path);
    return { ...rest, type: 'object', properties, [keyword]: demands };
  }
  const advice = 'unions of int and string, of strings, and of objects can be expressed; otherwise use z.unknown()';
  throw new DefinitionError(`${path}: a structural schema has one type per field: ${advice}`);
}

/** A union of objects: the fields of all, and what each alternative requires of them. */
function mergeObjects(
  alternatives: readonly Schema[],
  path: string,
): { readonly properties: Schema; readonly demands: readonly Schema[] } {
  const properties: Schema = {};
  const demands = alternatives.map((alternative) => {
    const tags: [string, Schema][] = [];
    const converted = convertObject(alternative, path);
    for (const [name, field] of Object.entries(isSchema(converted['properties']) ? converted['properties'] : {})) {
      if (!isSchema(field)) continue;
      const known = properties[name];
      properties[name] = isSchema(known) ? mergeFields(known, field, `${path}.${name}`) : field;
      if (Array.isArray(field['enum'])) tags.push([name, { enum: field['enum'] }]);
    }
    const required = converted['required'] ?? [];
    return tags.length === 0 ? { required } : { properties: Object.fromEntries(tags), required };
  });
  return { properties, demands };
}

function mergeFields(known: Schema, field: Schema, path: string): Schema {
  const { enum: knownValues, ...knownRest } = known;
  const { enum: values, ...rest } = field;
  if (!isEqualJson(knownRest, rest)) throw new DefinitionError(`${path}: has different types in a union`);
  if (!Array.isArray(knownValues) || !Array.isArray(values)) return rest;
  return { ...rest, enum: [...new Set([...knownValues, ...values])] };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
