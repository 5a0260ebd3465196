import { ownValue, setOwn } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { isFields, type Fields } from '../schema/index.ts';

/** Fields that every object has, whatever its schema says. */
const reserved = new Set(['apiVersion', 'kind', 'metadata']);

export interface Pruned {
  readonly object: Fields;
  readonly unknown: readonly string[];
}

/** Drops the fields that the schema does not have. */
export function prune(object: Fields, schema: Fields | undefined): Pruned {
  const unknown: string[] = [];
  if (schema === undefined) return { object, unknown };
  const { apiVersion, kind, metadata, ...rest } = object;
  const pruned = pruneValue(rest, schema, '', unknown);
  return { object: { apiVersion, kind, metadata, ...(isFields(pruned) ? pruned : {}) }, unknown };
}

function pruneValue(value: unknown, schema: Fields, path: string, unknown: string[]): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!isFields(items)) return value;
    return value.map((item, index) => pruneValue(item, items, `${path}[${index}]`, unknown));
  }
  if (!isFields(value)) return value;
  const properties = isFields(schema['properties']) ? schema['properties'] : {};
  const additional = schema['additionalProperties'];
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || additional === true;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const result: Fields = {};
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const inner = path === '' ? name : `${path}.${name}`;
    const property = ownValue(properties, name);
    if (isFields(property)) setOwn(result, name, pruneValue(item, property, inner, unknown));
    else if (isFields(additional)) setOwn(result, name, pruneValue(item, additional, inner, unknown));
    else if (isOpen || (embedded && reserved.has(name))) setOwn(result, name, item);
    else unknown.push(inner);
  }
  return result;
}

/** The basics of a schema: types, required fields, enumerations, bounds, patterns, and combinations of these. */
export function validateValue(value: unknown, schema: Fields, path: string): FieldError[] {
  if (value === null && schema['nullable'] === true) return [];
  const wrongType = checkType(value, schema, path);
  if (wrongType !== undefined) return [wrongType];
  return [
    ...checkEnum(value, schema, path),
    ...(typeof value === 'number' ? checkNumber(value, schema, path) : []),
    ...(typeof value === 'string' ? checkText(value, schema, path) : []),
    ...(Array.isArray(value) ? checkList(value, schema, path) : []),
    ...(isFields(value) ? checkObject(value, schema, path) : []),
    ...checkCombinations(value, schema, path),
  ];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function checkType(value: unknown, schema: Fields, path: string): FieldError | undefined {
  const found = typeOf(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    const fits = found === 'string' || Number.isInteger(value);
    return fits ? undefined : typeError(path, 'integer,string', found);
  }
  const { type } = schema;
  if (typeof type !== 'string' || type === found) return undefined;
  if (type === 'integer' && Number.isInteger(value)) return undefined;
  return typeError(path, type, found);
}

function typeError(path: string, wanted: string, found: string): FieldError {
  const detail = `${path} in body must be of type ${wanted}: ${JSON.stringify(found)}`;
  return { type: 'Invalid', field: path, value: found, detail };
}

function problem(path: string, value: unknown, text: string): FieldError {
  return { type: 'Invalid', field: path, value, detail: `${path} in body ${text}` };
}

function checkEnum(value: unknown, schema: Fields, path: string): FieldError[] {
  const values = schema['enum'];
  if (!Array.isArray(values) || values.some((each) => JSON.stringify(each) === JSON.stringify(value))) return [];
  const detail = `supported values: ${values.map((each) => JSON.stringify(each)).join(', ')}`;
  return [{ type: 'NotSupported', field: path, value, detail }];
}

function checkNumber(value: number, schema: Fields, path: string): FieldError[] {
  const { minimum, maximum, multipleOf } = schema;
  const errors: FieldError[] = [];
  if (typeof minimum === 'number') {
    const exclusive = schema['exclusiveMinimum'] === true;
    if (value < minimum || (exclusive && value === minimum)) {
      errors.push(problem(path, value, `should be greater than ${exclusive ? '' : 'or equal to '}${minimum}`));
    }
  }
  if (typeof maximum === 'number') {
    const exclusive = schema['exclusiveMaximum'] === true;
    if (value > maximum || (exclusive && value === maximum)) {
      errors.push(problem(path, value, `should be less than ${exclusive ? '' : 'or equal to '}${maximum}`));
    }
  }
  if (typeof multipleOf === 'number' && !Number.isInteger(value / multipleOf)) {
    errors.push(problem(path, value, `should be a multiple of ${multipleOf}`));
  }
  return errors;
}

function checkText(value: string, schema: Fields, path: string): FieldError[] {
  const { minLength, maxLength, pattern } = schema;
  const errors: FieldError[] = [];
  const { length } = Array.from(value); // of code points, not of UTF-16 units
  if (typeof minLength === 'number' && length < minLength) {
    errors.push(problem(path, value, `should be at least ${minLength} chars long`));
  }
  if (typeof maxLength === 'number' && length > maxLength) {
    errors.push({ type: 'TooLong', field: path, value, detail: `may not be more than ${maxLength} bytes` });
  }
  if (typeof pattern === 'string' && compilePattern(pattern)?.test(value) === false) {
    errors.push(problem(path, value, `should match '${pattern}'`));
  }
  return errors;
}

const patterns = new Map<string, RegExp | undefined>();

/** Patterns that are valid in Go but not in JavaScript are not checked. */
function compilePattern(pattern: string): RegExp | undefined {
  if (!patterns.has(pattern)) {
    try {
      patterns.set(pattern, new RegExp(pattern, 'u'));
    } catch {
      patterns.set(pattern, undefined);
    }
  }
  return patterns.get(pattern);
}

function checkList(value: readonly unknown[], schema: Fields, path: string): FieldError[] {
  const { minItems, maxItems, items } = schema;
  const errors: FieldError[] = [];
  if (typeof minItems === 'number' && value.length < minItems) {
    errors.push(problem(path, value.length, `should have at least ${minItems} items`));
  }
  if (typeof maxItems === 'number' && value.length > maxItems) {
    errors.push({ type: 'Invalid', field: path, value: value.length, detail: `must have at most ${maxItems} items` });
  }
  if (isFields(items)) {
    for (const [index, item] of value.entries()) errors.push(...validateValue(item, items, `${path}[${index}]`));
  }
  return errors;
}

function checkObject(value: Fields, schema: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const place = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const needed = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const name of needed) {
    if (typeof name === 'string' && ownValue(value, name) === undefined) {
      errors.push({ type: 'Required', field: place(name), detail: '' });
    }
  }
  const properties = isFields(schema['properties']) ? schema['properties'] : {};
  const additional = schema['additionalProperties'];
  for (const [name, item] of Object.entries(value)) {
    if (path === '' && reserved.has(name)) continue;
    const property = ownValue(properties, name) ?? additional;
    if (isFields(property)) errors.push(...validateValue(item, property, place(name)));
  }
  return errors;
}

function checkCombinations(value: unknown, schema: Fields, path: string): FieldError[] {
  const list = (name: string): Fields[] => (Array.isArray(schema[name]) ? schema[name].filter(isFields) : []);
  const fits = (each: Fields): boolean => validateValue(value, each, path).length === 0;
  const errors = list('allOf').flatMap((each) => validateValue(value, each, path));
  const any = list('anyOf');
  if (any.length > 0 && !any.some(fits)) errors.push(problem(path, value, 'must validate at least one schema (anyOf)'));
  const one = list('oneOf');
  if (one.length > 0 && one.filter(fits).length !== 1) {
    errors.push(problem(path, value, 'must validate one and only one schema (oneOf)'));
  }
  const not = schema['not'];
  if (isFields(not) && fits(not)) errors.push(problem(path, value, 'must not validate the schema (not)'));
  return errors;
}
