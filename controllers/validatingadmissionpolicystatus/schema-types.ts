import { dyn, int, listOf, mapOf, simple, string, bool, type Type } from './types.ts';

/** A schema of an OpenAPI document. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

/** By name, without the path of references. */
export type Schemas = Readonly<Record<string, Schema>>;

const reserved: ReadonlySet<string> = new Set(
  `true false null in as break const continue else for function if import let loop package namespace return var void
while`.split(/\s/),
);
const simpleFormats = { byte: simple('bytes'), duration: simple('duration') };
const timestamp = simple('timestamp');

/** The type of objects of a schema. Undefined if expressions cannot use them. */
export function typeOfRoot(schema: Schema, schemas: Schemas): Type | undefined {
  return typeOf(schema, { schemas, visited: new Set() }, true);
}

interface Scope {
  readonly schemas: Schemas;
  /** The references that lead here. One that leads back ends in an object without fields. */
  readonly visited: ReadonlySet<string>;
}

function typeOf(given: Schema, before: Scope, isRoot: boolean): Type | undefined {
  const { schema, scope } = resolve(given, before);
  if (schema === undefined) return undefined;
  if (schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true) return dyn;
  if (isRoot) return objectType(schema, scope, true);
  switch (schema.type) {
    case 'array': {
      const item = schema.items && typeOfPart(schema.items, scope);
      return item && listOf(item);
    }
    case 'object': {
      const { additionalProperties } = schema;
      if (typeof additionalProperties !== 'object') return objectType(schema, scope, false);
      const value = typeOfPart(additionalProperties, scope);
      return value && mapOf(value);
    }
    case 'string':
      return typeOfText(schema.format);
    case 'boolean':
      return bool;
    case 'number':
      return simple('double');
    case 'integer':
      return int;
    default:
      return undefined; // such as quantities, which are strings or numbers
  }
}

function typeOfPart(part: Schema, scope: Scope): Type | undefined {
  const { schema } = resolve(part, scope);
  return typeOf(part, scope, schema?.['x-kubernetes-embedded-resource'] === true);
}

function typeOfText(format: string | undefined): Type {
  if (format === 'date' || format === 'date-time') return timestamp;
  return format === 'byte' || format === 'duration' ? simpleFormats[format] : string;
}

/** `apiVersion`, `kind` and the names in the metadata can be used at the root of every resource. */
function objectType(schema: Schema, scope: Scope, isRoot: boolean): Type {
  const properties = new Map(Object.entries(schema.properties ?? {}));
  if (isRoot && !hasObjectMeta(schema, scope)) {
    const text = { type: 'string' };
    const metadata = { type: 'object', properties: { name: text, generateName: text } };
    properties.set('kind', text).set('apiVersion', text).set('metadata', metadata);
  }
  // A reserved name can be used as it is, too.
  const byName = new Map([...properties].flatMap((entry) => [entry, [escapeName(entry[0]), entry[1]] as const]));
  const known = new Map<string, Type | undefined>();
  return {
    kind: 'object',
    fieldOf(name) {
      const property = byName.get(name);
      if (!known.has(name)) known.set(name, property && typeOfPart(property, scope));
      return known.get(name);
    },
  };
}

function hasObjectMeta({ properties }: Schema, scope: Scope): boolean {
  const typeIn = (schema: Schema | undefined): string | undefined => schema && resolve(schema, scope).schema?.type;
  const metadata = properties?.['metadata'] && resolve(properties['metadata'], scope).schema;
  return (
    typeIn(properties?.['kind']) === 'string' &&
    typeIn(properties?.['apiVersion']) === 'string' &&
    metadata?.type === 'object' &&
    typeIn(metadata.properties?.['name']) === 'string' &&
    typeIn(metadata.properties?.['generateName']) === 'string'
  );
}

/** Follows a reference, also one that is wrapped in `allOf` to have its own description. */
function resolve(schema: Schema, scope: Scope): { readonly schema: Schema | undefined; readonly scope: Scope } {
  const reference = referenceOf(schema);
  if (reference === undefined) return { schema, scope };
  if (scope.visited.has(reference)) return { schema: { type: 'object' }, scope };
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  const found = Object.hasOwn(scope.schemas, name) ? scope.schemas[name] : undefined;
  return { schema: found, scope: { ...scope, visited: new Set([...scope.visited, reference]) } };
}

function referenceOf({ $ref, allOf = [] }: Schema): string | undefined {
  return $ref ?? allOf.map(referenceOf).find((reference) => reference !== undefined);
}

/** The name of a field in expressions. */
function escapeName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  const replaced = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };
  return name.replaceAll(/__|[-./]/g, (found) => replaced[found as keyof typeof replaced]);
}
