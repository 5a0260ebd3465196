import type * as z from 'zod';

import { isEqualJson } from '../api/index.ts';
import { DefinitionError } from './definition-error.ts';
import { jsonSchemaOf } from './json-schema.ts';
import { checkExtensions, isSchema, knownKeywords, type Schema } from './schema-keywords.ts';
import { knownFormats } from './string-format.ts';

/** An OpenAPI v3 schema that follows the rules of structural schemas. */
export type StructuralSchema = Readonly<Record<string, unknown>>;

const jsonBounds = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const int32Bounds = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/**
 * The schema of a custom resource's field, as a CustomResourceDefinition needs it. Throws a `DefinitionError` that names
 * the field for what a structural schema cannot express: transforms, refinements, dates, unions of different types.
 * Extensions such as `x-kubernetes-list-type` and `x-kubernetes-validations` are given with zod's `meta`.
 */
export function structuralSchema(schema: z.ZodType, path: string): StructuralSchema {
  return convert(jsonSchemaOf(schema, path), path);
}

function convert(given: unknown, path: string): Schema {
  if (!isSchema(given)) return { 'x-kubernetes-preserve-unknown-fields': true };
  const converted = convertKeywords(withoutNull(given), path);
  checkExtensions(converted, path);
  return converted;
}

/** A union with null, or with an alternative that may be null, is the union of the others, and nullable. */
function withoutNull(json: Schema): Schema {
  const { anyOf, ...rest } = json;
  if (!Array.isArray(anyOf)) return json;
  const alternatives = anyOf.flatMap(flattened);
  const others = alternatives.filter((each) => !isSchema(each) || !isEqualJson(each['enum'], [null]));
  const isNullable = others.length < alternatives.length || others.some((each) => isSchema(each) && each['nullable']);
  if (!isNullable) return { ...rest, anyOf: others };
  const [only] = others;
  if (others.length === 1 && isSchema(only)) return { ...only, ...rest, nullable: true };
  return { ...rest, anyOf: others.map(withoutNullable), nullable: true };
}

function withoutNullable(alternative: unknown): unknown {
  if (!isSchema(alternative)) return alternative;
  const { nullable: _, ...rest } = alternative;
  return rest;
}

/** A union in a union. */
function flattened(alternative: unknown): readonly unknown[] {
  if (!isSchema(alternative)) return [alternative];
  const { anyOf, ...rest } = alternative;
  return Array.isArray(anyOf) && Object.keys(rest).length === 0 ? anyOf.flatMap(flattened) : [alternative];
}

function convertKeywords(given: Schema, path: string): Schema {
  const json = knownKeywords(given, path);
  const alternatives = json['anyOf'] ?? json['oneOf'];
  // Also one that its author calls an int or string: beside the extension, alternatives may not have types.
  if (Array.isArray(alternatives)) return convertUnion(json, alternatives.filter(isSchema), path);
  if (json['x-kubernetes-int-or-string'] === true) return json;
  if (json['type'] === 'string') return convertString(json, path);
  if (json['allOf'] !== undefined) {
    throw new DefinitionError(`${path}: two schemas for one value cannot be expressed: for objects, use extend()`);
  }
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
    case undefined:
      throw new DefinitionError(`${path}: the values of an enum must have the same type`);
    default:
      return json;
  }
}

function convertObject(json: Schema, path: string): Schema {
  const { additionalProperties, properties: given, ...rest } = json;
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
  const { format, ...rest } = json;
  const { pattern } = rest;
  // The pattern of meta() is as its author wrote it.
  if (typeof pattern === 'string' && /\(\?<?[=!]/.test(pattern)) {
    throw new DefinitionError(`${path}: the pattern ${pattern} looks ahead or behind, which the API server cannot`);
  }
  return typeof format === 'string' && knownFormats.has(format) ? { ...rest, format } : rest;
}

const primitives: ReadonlySet<unknown> = new Set(['boolean', 'integer', 'number', 'string']);

function convertUnion(json: Schema, alternatives: readonly Schema[], path: string): Schema {
  const { anyOf: _, oneOf: _one, ...rest } = json;
  const types = new Set(alternatives.map(({ type }) => type));
  const isIntOrString = types.size === 2 && types.has('string') && (types.has('integer') || types.has('number'));
  if (isIntOrString) return convertIntOrString(rest, alternatives, path);
  const [type] = types;
  const keyword = json['oneOf'] === undefined ? 'anyOf' : 'oneOf';
  if (types.size === 1 && primitives.has(type)) return { ...rest, ...mergePrimitives(alternatives, keyword, path) };
  if (types.size === 1 && type === 'object') {
    const { properties, demands } = mergeObjects(alternatives, path);
    return { ...rest, type: 'object', properties, [keyword]: demands };
  }
  const names = [...types].map((each) => (typeof each === 'string' ? each : 'anything')).join(' and ');
  const advice = 'a union is of int and string, of strings, of numbers, or of objects; otherwise use z.unknown()';
  throw new DefinitionError(`${path}: a union of ${names} is not structural: ${advice}`);
}

/** Beside the type that all alternatives have, each may check values: by limits, patterns, formats and enums. */
function mergePrimitives(alternatives: readonly Schema[], keyword: 'anyOf' | 'oneOf', path: string): Schema {
  const [type] = alternatives.map((each) => each['type']);
  const enums = alternatives.map((each) => (Array.isArray(each['enum']) ? each['enum'] : []));
  if (enums.every((values) => values.length > 0)) {
    return knownKeywords({ type, enum: [...new Set(enums.flat())] }, path);
  }
  const formats = new Set<unknown>();
  const checks = alternatives.map((alternative) => {
    const { type: _, title: _title, description: _text, example: _example, ...check } = convert(alternative, path);
    const refused = Object.keys(check).find((name) => name === 'default' || name.startsWith('x-kubernetes-'));
    if (refused !== undefined) throw new DefinitionError(`${path}: an alternative of a union cannot have ${refused}`);
    if (type === 'string') return check;
    // The format of a number is part of its type.
    const { format, ...limits } = check;
    formats.add(format);
    return limits;
  });
  if (formats.size > 1) throw new DefinitionError(`${path}: the alternatives of a union must have the same format`);
  const [format] = formats;
  const isAnyValue = keyword === 'anyOf' && checks.some((check) => Object.keys(check).length === 0);
  return { type, ...(format !== undefined && { format }), ...(!isAnyValue && { [keyword]: checks }) };
}

/** Limits of numbers do not concern strings, and those of strings do not concern numbers. */
function convertIntOrString(rest: Schema, alternatives: readonly Schema[], path: string): Schema {
  const limits = alternatives.map((each) => {
    const isString = each['type'] === 'string';
    const { type: _, ...own } = isString ? convertString(knownKeywords(each, path), path) : convertInteger(each);
    const { format, ...kept } = own;
    if (kept['enum'] !== undefined || kept['default'] !== undefined || (isString && format !== undefined)) {
      throw new DefinitionError(`${path}: an int or string can have no enum, no format, and no default of its parts`);
    }
    return kept;
  });
  if (alternatives.length > 2) throw new DefinitionError(`${path}: a union of int and string has two alternatives`);
  return { ...Object.assign({}, ...limits), ...rest, 'x-kubernetes-int-or-string': true };
}

/** The fields of all alternatives, and what each of them demands. */
function mergeObjects(
  alternatives: readonly Schema[],
  path: string,
): { readonly properties: Schema; readonly demands: readonly Schema[] } {
  const properties: Schema = {};
  const demands = alternatives.map((alternative) => {
    const tags: [string, Schema][] = [];
    const { required = [], ...converted } = fieldsOf(alternative, path);
    for (const [name, field] of Object.entries(converted.properties)) {
      if (!isSchema(field)) continue;
      refuseLoneDefault(name, field, { alternatives, path });
      const known = properties[name];
      properties[name] = isSchema(known) ? mergeFields(known, field, `${path}.${name}`) : field;
      if (Array.isArray(field['enum'])) tags.push([name, { enum: field['enum'] }]);
    }
    return tags.length === 0 ? { required } : { properties: Object.fromEntries(tags), required };
  });
  return { properties, demands };
}

/** Only its fields: whatever else an alternative has cannot be said of one alternative alone. */
function fieldsOf(alternative: Schema, path: string): { readonly properties: Schema; readonly required?: unknown } {
  const { type: _, properties, required, title: _title, description: _text, ...more } = convert(alternative, path);
  const [keyword] = Object.keys(more);
  if (keyword !== undefined) throw new DefinitionError(`${path}: an alternative of a union cannot have ${keyword}`);
  return { properties: isSchema(properties) ? properties : {}, required };
}

/** The API server stores a default in all objects, also in those of the other alternatives. */
function refuseLoneDefault(
  name: string,
  field: Schema,
  { alternatives, path }: { readonly alternatives: readonly Schema[]; readonly path: string },
): void {
  const has = ({ properties }: Schema): boolean => isSchema(properties) && Object.hasOwn(properties, name);
  if (field['default'] === undefined || alternatives.every(has)) return;
  throw new DefinitionError(
    `${path}.${name}: a default in one alternative of a union would be stored in objects of the others`,
  );
}

/** One field of several alternatives. Of texts that differ, the first is kept. */
function mergeFields(known: Schema, field: Schema, path: string): Schema {
  const { enum: knownValues, ...knownRest } = known;
  const { enum: values, ...rest } = field;
  if (!isEqualJson(withoutTexts(knownRest), withoutTexts(rest))) {
    throw new DefinitionError(`${path}: has different types in a union`);
  }
  const merged = { ...rest, ...knownRest };
  if (!Array.isArray(knownValues) || !Array.isArray(values)) return merged;
  return { ...merged, enum: [...new Set([...knownValues, ...values])] };
}

/** Without what documents a schema and its fields. */
function withoutTexts(schema: Schema): Schema {
  const { title: _title, description: _text, example: _example, ...rest } = schema;
  for (const keyword of ['items', 'additionalProperties']) {
    if (isSchema(rest[keyword])) rest[keyword] = withoutTexts(rest[keyword]);
  }
  const { properties } = rest;
  if (!isSchema(properties)) return rest;
  const fields = Object.entries(properties).map(([name, each]) => [name, isSchema(each) ? withoutTexts(each) : each]);
  return { ...rest, properties: Object.fromEntries(fields) };
}
