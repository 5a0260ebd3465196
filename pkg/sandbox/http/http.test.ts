import { describe, expect, test } from 'vitest';

import { Registry } from '../registry/index.ts';
import { yamlOf } from './answer.ts';
import { parseBody } from './body.ts';
import { negotiate } from './negotiate.ts';
import { parseResourcePath } from './path.ts';

const pathRows = [
  { path: '/api/v1/pods', expected: { group: '', version: 'v1', resource: 'pods' } },
  { path: '/api/v1/namespaces/a/pods/b', expected: { resource: 'pods', namespace: 'a', name: 'b' } },
  { path: '/api/v1/namespaces/a', expected: { resource: 'namespaces', name: 'a', namespace: undefined } },
  { path: '/api/v1/namespaces/a/status', expected: { resource: 'namespaces', name: 'a', subresource: 'status' } },
  { path: '/api/v1/namespaces/a/finalize', expected: { resource: 'namespaces', subresource: 'finalize' } },
  { path: '/apis/apps/v1/namespaces/a/deployments/b/scale', expected: { group: 'apps', subresource: 'scale' } },
  { path: '/apis/apps/v1/deployments/', expected: { resource: 'deployments', name: undefined } },
  { path: '/api/v1/nodes/a%2Fb', expected: { resource: 'nodes', name: 'a/b' } },
];

describe('parseResourcePath', () => {
  for (const { path, expected } of pathRows) {
    test(path, () => expect(parseResourcePath(path)).toMatchObject(expected));
  }
  for (const path of ['/api', '/apis/apps/v1', '/api/v1/pods//x', '/api/v1/a/b/c/d', '/api/v1/%zz', '/other/v1/x']) {
    test(`${path} is no resource's`, () => expect(parseResourcePath(path)).toBeUndefined());
  }
});

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const acceptRows = [
  { accept: undefined, expected: { representation: 'object', format: 'json' } },
  { accept: '*/*', expected: { representation: 'object', format: 'json' } },
  { accept: `${table},application/json`, expected: { representation: 'table', format: 'json' } },
  { accept: 'application/vnd.kubernetes.protobuf,application/json', expected: { representation: 'object' } },
  { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', expected: { representation: 'metadata' } },
  { accept: 'application/json;as=Other;g=x;v=v1, application/yaml', expected: { format: 'yaml' } },
];

describe('negotiate', () => {
  for (const { accept, expected } of acceptRows) {
    test(String(accept), () => expect(negotiate(accept)).toMatchObject(expected));
  }
  test('is refused when no accepted form is available', () =>
    expect(() => negotiate('application/vnd.kubernetes.protobuf')).toThrow('only the following media types'));
});

describe('YAML', () => {
  const parse = (text: string): unknown => parseBody(Buffer.from(text), 'application/yaml', new Registry());
  const rows = [
    {
      name: 'is read by the rules of version 1.2',
      text: 'a: yes\nb: 2020-01-01',
      expected: { a: 'yes', b: '2020-01-01' },
    },
    { name: 'may use an alias', text: 'a: &x [1]\nb: *x', expected: { a: [1], b: [1] } },
  ];
  for (const { name, text, expected } of rows) test(name, () => expect(parse(text)).toEqual(expected));

  const refused = [
    { name: 'empty', text: '' },
    { name: 'two documents', text: 'a: 1\n---\nb: 2' },
    { name: 'a key twice', text: 'a: 1\na: 2' },
    {
      name: 'aliases that multiply the body',
      text: `a: &x [1]\nb: [${Array.from({ length: 20 }, () => '*x').join()}]`,
    },
  ];
  for (const { name, text } of refused) {
    test(`is refused: ${name}`, () => expect(() => parse(text)).toThrow('error converting YAML to JSON'));
  }

  test('is written so that version 1.1 reads the same strings', () =>
    expect(yamlOf('{"a":"yes","b":"1.0","c":[null,true]}')).toBe("a: 'yes'\nb: '1.0'\nc:\n  - null\n  - true\n"));
});
