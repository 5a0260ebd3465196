import { DefinitionError } from './definition-error.ts';

/** A JSON schema. */
export type Schema = Record<string, unknown>;

/** The keywords of JSONSchemaProps that a structural schema may have. */
const known = wordsOf(`
  type format title description default example externalDocs nullable enum
  minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
  minLength maxLength pattern minItems maxItems minProperties maxProperties required
  items properties additionalProperties allOf anyOf oneOf not
  x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type
  x-kubernetes-map-type x-kubernetes-preserve-unknown-fields x-kubernetes-validations
`);

/** Keywords that check values, with which the API server refuses a definition or which it ignores. */
const refused = wordsOf(`
  $dynamicRef $recursiveRef additionalItems const contains definitions dependencies dependentRequired
  dependentSchemas else if maxContains minContains patternProperties prefixItems propertyNames then
  unevaluatedItems unevaluatedProperties
`);

/** The schema without what says nothing about values, such as `deprecated`. Refuses what would not be checked. */
export function knownKeywords(json: Schema, path: string): Schema {
  const refuse = (what: string): never => {
    throw new DefinitionError(`${path}: ${what}`);
  };
  if (isReference(json)) refuse('a definition cannot be recursive: use z.unknown() for the inner part');
  for (const [keyword, value] of Object.entries(json)) {
    if (refused.has(keyword)) refuse(`a CustomResourceDefinition cannot have ${keyword}`);
    if (keyword === 'uniqueItems' && value === true) refuse("use x-kubernetes-list-type: 'set' instead of uniqueItems");
    if (keyword.startsWith('x-kubernetes-') && !known.has(keyword)) refuse(`Kubernetes has no extension ${keyword}`);
  }
  if (json['x-kubernetes-preserve-unknown-fields'] === false)
    refuse('x-kubernetes-preserve-unknown-fields is true or absent');
  const isNullableEnum = json['nullable'] === true && Array.isArray(json['enum']);
  if (isNullableEnum || json['type'] === 'null' || (Array.isArray(json['enum']) && json['enum'].includes(null))) {
    refuse('the API server cannot have null in an enum: use optional()');
  }
  return Object.fromEntries(Object.entries(json).filter(([keyword]) => known.has(keyword)));
}

/** A reference to a schema around this one, which zod makes for a getter or `lazy`, alone or with what is said beside it. */
function isReference({ $ref, allOf }: Schema): boolean {
  return $ref !== undefined || (Array.isArray(allOf) && allOf.some((each) => isSchema(each) && isReference(each)));
}

/** Refuses extensions of lists and maps that the API server would refuse. */
export function checkExtensions(schema: Schema, path: string): void {
  const refuse = (what: string): never => {
    throw new DefinitionError(`${path}: ${what}`);
  };
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-map-type': mapType, type, items } = schema;
  const keys: unknown = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-int-or-string'] === true && type !== undefined) {
    refuse('x-kubernetes-int-or-string is for z.unknown() and unions of int and string');
  }
  if (mapType !== undefined && (type !== 'object' || (mapType !== 'atomic' && mapType !== 'granular'))) {
    refuse('x-kubernetes-map-type is atomic or granular, and only for objects');
  }
  const isListType = listType === 'atomic' || listType === 'set' || listType === 'map';
  if (listType !== undefined && (type !== 'array' || !isListType)) {
    refuse('x-kubernetes-list-type is atomic, set or map, and only for lists');
  }
  if ((listType === 'map') !== (Array.isArray(keys) && keys.length > 0)) {
    refuse('x-kubernetes-list-type: map and x-kubernetes-list-map-keys need each other');
  }
  if (!isSchema(items) || (listType !== 'set' && listType !== 'map')) return;
  if (items['nullable'] === true) refuse(`the items of a ${listType} cannot be null`);
  if (listType === 'map') checkMapKeys(items, Array.isArray(keys) ? keys : [], refuse);
  else if (items['type'] === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    refuse('objects in a set need x-kubernetes-map-type: atomic');
  }
}

function checkMapKeys(items: Schema, keys: readonly unknown[], refuse: (what: string) => never): void {
  const properties = isSchema(items['properties']) ? items['properties'] : {};
  const required: unknown = items['required'];
  for (const key of keys) {
    const field = Object.entries(properties).find(([name]) => name === key)?.[1];
    if (!isSchema(field)) return refuse(`the items of the list have no field ${String(key)}, which is a key`);
    if (field['type'] === 'object' || field['type'] === 'array') refuse(`the key ${String(key)} must be a scalar`);
    const isSet = (Array.isArray(required) && required.includes(key)) || field['default'] !== undefined;
    if (!isSet || field['nullable'] === true) refuse(`the key ${String(key)} must be required or have a default`);
  }
  if (new Set(keys).size < keys.length) refuse('a key is given twice');
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
