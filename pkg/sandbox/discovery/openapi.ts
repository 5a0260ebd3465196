import { apiVersionOf, type Resource } from '../registry/index.ts';
import {
  objectType,
  type Field,
  type Fields,
  type ObjectType,
  type ScalarName,
  type ValueType,
} from '../schema/index.ts';
import { describe } from './descriptions.ts';

const title = 'Kubernetes';
const metaName = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The address of the document of each group and version. */
export function openApiIndex(resources: readonly Resource[]): object {
  const paths: Fields = {};
  for (const resource of resources) {
    const place = placeOf(resource);
    paths[place] = { serverRelativeURL: `/openapi/v3/${place}` };
  }
  return { paths };
}

function placeOf(resource: Resource): string {
  return resource.group === '' ? `api/${resource.version}` : `apis/${apiVersionOf(resource)}`;
}

/** The document of one group and version, as far as kubectl reads it: types, paths and verbs. */
export function openApiDocument(resources: readonly Resource[], place: string): object | undefined {
  const served = resources.filter((resource) => placeOf(resource) === place);
  if (served.length === 0) return undefined;
  const schemas: Record<string, Fields> = {};
  const paths: Fields = {};
  for (const resource of served) {
    const schemaName = addSchema(resource, schemas);
    Object.assign(paths, pathsOf(resource, place, schemaName));
  }
  return { openapi: '3.0.0', info: { title, version: 'v1.36.4' }, paths, components: { schemas } };
}

function kindOf({ group, version, kind }: Resource): Fields {
  return { group, version, kind };
}

function addSchema(resource: Resource, schemas: Record<string, Fields>): string {
  if (resource.type.kind === 'built-in') {
    const { object } = resource.type;
    addType(object, schemas);
    const schema = schemas[object.name];
    if (schema !== undefined) schema['x-kubernetes-group-version-kind'] = [kindOf(resource)];
    return object.name;
  }
  addType(objectType(metaName), schemas);
  const name = `${resource.group.split('.').toReversed().join('.')}.${resource.version}.${resource.kind}`;
  const { schema = {} } = resource.type.custom;
  const own = typeof schema['properties'] === 'object' ? schema['properties'] : {};
  const properties = { ...own, apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: refTo(metaName) };
  schemas[name] = { type: 'object', ...schema, properties, 'x-kubernetes-group-version-kind': [kindOf(resource)] };
  return name;
}

function addType(type: ObjectType, schemas: Record<string, Fields>): void {
  if (schemas[type.name] !== undefined) return;
  const properties: Fields = {};
  const required: string[] = [];
  const told = describe(type.name);
  const schema: Fields = { ...(told.type !== undefined && { description: told.type }), type: 'object', properties };
  schemas[type.name] = schema; // before its fields: some types are recursive
  for (const [name, field] of type.fields) {
    const description = told.fields.get(name);
    properties[name] = { ...(description !== undefined && { description }), ...describeField(field, schemas) };
    if (field.required) required.push(name);
  }
  if (required.length > 0) schema['required'] = required;
  if (type.atomic) schema['x-kubernetes-map-type'] = 'atomic';
}

function describeField(field: Field, schemas: Record<string, Fields>): Fields {
  const described = describeType(field.type, schemas);
  if (field.default !== undefined) described['default'] = field.default;
  if (field.values.length > 0) described['enum'] = field.values;
  if (field.mergeKey !== undefined) described['x-kubernetes-patch-merge-key'] = field.mergeKey;
  if (field.strategies.length > 0) described['x-kubernetes-patch-strategy'] = field.strategies.join(',');
  if (field.type.kind === 'list' && field.listType !== undefined) described['x-kubernetes-list-type'] = field.listType;
  if (field.listKeys.length > 0) described['x-kubernetes-list-map-keys'] = field.listKeys;
  return described;
}

const scalars: Readonly<Record<Exclude<ScalarName, NamedScalar>, Fields>> = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  time: { type: 'string', format: 'date-time' },
  microtime: { type: 'string', format: 'date-time' },
  bytes: { type: 'string', format: 'byte' },
  any: { type: 'object' },
};

type NamedScalar = 'quantity' | 'int-or-string';

/** These have types of their own, which clients know by name. */
const namedScalars: Readonly<Record<NamedScalar, { readonly name: string; readonly schema: Fields }>> = {
  quantity: {
    name: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
    schema: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  },
  'int-or-string': {
    name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    schema: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  },
};

function describeType(type: ValueType, schemas: Record<string, Fields>): Fields {
  switch (type.kind) {
    case 'scalar': {
      const { name } = type;
      if (name !== 'quantity' && name !== 'int-or-string') return { ...scalars[name] };
      const named = namedScalars[name];
      schemas[named.name] = named.schema;
      return refTo(named.name);
    }
    case 'list':
      return { type: 'array', items: describeType(type.item, schemas) };
    case 'map':
      return { type: 'object', additionalProperties: describeType(type.value, schemas) };
    case 'object':
      addType(type.type, schemas);
      return refTo(type.type.name);
  }
}

function refTo(name: string): Fields {
  return { allOf: [{ $ref: `#/components/schemas/${name}` }] };
}

const query = (name: string, type = 'string'): Fields => ({ name, in: 'query', schema: { type, uniqueItems: true } });
const writeParameters = [query('dryRun'), query('fieldManager'), query('fieldValidation')];

/** kubectl reads this to learn whether a server validates fields, and which kind a resource has. */
function pathsOf(resource: Resource, place: string, schemaName: string): Fields {
  const base = `/${place}/${resource.namespaced ? 'namespaces/{namespace}/' : ''}${resource.resource}`;
  const responses = {
    200: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${schemaName}` } } } },
  };
  const operation = (action: string, parameters: readonly Fields[] = []): Fields => ({
    parameters,
    responses,
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': kindOf(resource),
  });
  const has = (verb: string): boolean => resource.verbs.includes(verb);
  return {
    [base]: {
      ...(has('list') && { get: operation('list') }),
      ...(has('create') && { post: operation('post', writeParameters) }),
    },
    ...(has('get') && {
      [`${base}/{name}`]: {
        get: operation('get'),
        put: operation('put', writeParameters),
        patch: operation('patch', [...writeParameters, query('force', 'boolean')]),
        delete: operation('delete', [query('dryRun')]),
      },
    }),
  };
}
