import { describe, expect, test } from 'vitest';

import { typeOfRoot, type Schema } from './schema-types.ts';
import type { Type } from './types.ts';

const text: Schema = { type: 'string' };
const schemas: Record<string, Schema> = {
  Meta: { type: 'object', properties: { name: text, generateName: text, namespace: text } },
  Node: { type: 'object', properties: { child: { $ref: '#/components/schemas/Node' }, value: { type: 'integer' } } },
  Quantity: { oneOf: [] } as Schema,
};
const root: Schema = {
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: { allOf: [{ $ref: '#/components/schemas/Meta' }] },
    node: { $ref: '#/components/schemas/Node' },
    size: { $ref: '#/components/schemas/Quantity' },
    sizes: { type: 'object', additionalProperties: { $ref: '#/components/schemas/Quantity' } },
    port: { format: 'int-or-string' },
    labels: { type: 'object', additionalProperties: text },
    list: { type: 'array', items: { type: 'number' } },
    data: { type: 'string', format: 'byte' },
    time: { type: 'string', format: 'date-time' },
    flag: { type: 'boolean' },
    anything: { type: 'object' },
    'with-dash': text,
    gone: { $ref: '#/components/schemas/Gone' },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true },
  },
};

/** The type below the root, as text. */
function typeAt(path: string, schema: Schema = root): string {
  let type = typeOfRoot(schema, schemas);
  for (const name of path.split('.')) type = type?.kind === 'object' ? type.fieldOf(name) : undefined;
  return describeType(type);
}

function describeType(type: Type | undefined): string {
  if (type === undefined) return 'none';
  switch (type.kind) {
    case 'simple':
      return type.name;
    case 'list':
      return `list(${describeType(type.item)})`;
    case 'map':
      return `map(${describeType(type.value)})`;
    default:
      return type.kind;
  }
}

describe('the type of a field', () => {
  const rows = {
    'metadata.name': 'string',
    'metadata.namespace': 'string',
    'metadata.__namespace__': 'string',
    'node.value': 'int',
    'node.child': 'object',
    'node.child.value': 'none', // a circular reference ends
    size: 'none', // a string or a number
    sizes: 'none',
    port: 'dyn',
    labels: 'map(string)',
    list: 'list(double)',
    data: 'bytes',
    time: 'timestamp',
    flag: 'bool',
    anything: 'object',
    'anything.at.all': 'none',
    with__dash__dash: 'string',
    gone: 'none',
    'embedded.metadata.generateName': 'string',
    'embedded.metadata.labels': 'none',
    constructor: 'none',
  };
  for (const [path, expected] of Object.entries(rows)) test(path, () => expect(typeAt(path)).toBe(expected));
});

test('a resource without metadata has that of every resource', () => {
  const bare: Schema = { type: 'object', properties: { spec: text } };
  const paths = ['apiVersion', 'kind', 'metadata.name', 'metadata.labels', 'spec'];
  expect(paths.map((path) => typeAt(path, bare))).toEqual(['string', 'string', 'string', 'none', 'string']);
});
