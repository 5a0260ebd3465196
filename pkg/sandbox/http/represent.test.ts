import { describe, expect, test } from 'vitest';

import type { UntypedObject } from '../../api/index.ts';
import { Registry } from '../registry/index.ts';
import { Entry } from '../storage/index.ts';
import { negotiate } from './negotiate.ts';
import { listKindOf, showList, showObject, type View } from './represent.ts';

const resource = new Registry().get('', 'v1', 'configmaps');
const metadata = {
  name: 'a',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '7',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const object: UntypedObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { k: 'v' } };
const entry = new Entry(object, 7);
const nowMs = Date.parse('2026-01-01T00:01:00Z');
const view = (representation: View['representation'], includeObject: View['includeObject'] = 'Metadata'): View => ({
  representation,
  includeObject,
  nowMs,
});
const page = { entries: [entry], metadata: { resourceVersion: '9' } };

describe('showObject', () => {
  test('shows an object as it is', () =>
    expect(JSON.parse(showObject(entry, resource, view('object')))).toEqual(object));
  test('shows metadata alone', () =>
    expect(JSON.parse(showObject(entry, resource, view('metadata')))).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
    }));
  test('shows a row of a table, with its age', () =>
    expect(JSON.parse(showObject(entry, resource, view('table')))).toMatchObject({
      kind: 'Table',
      metadata: { resourceVersion: '7' },
      columnDefinitions: [{ name: 'Name', format: 'name' }, { name: 'Data' }, { name: 'Age' }],
      rows: [{ cells: ['a', '1', '60s'], object: { kind: 'PartialObjectMetadata', metadata } }],
    }));

  const included = [
    { include: 'None', expected: undefined },
    { include: 'Object', expected: object },
  ] as const;
  for (const { include, expected } of included) {
    test(`includes ${include} in a row when asked to`, () => {
      const { rows } = JSON.parse(showObject(entry, resource, view('table', include))) as {
        rows: { object?: object }[];
      };
      expect(rows[0]?.object).toEqual(expected);
    });
  }
});

describe('showList', () => {
  test('names kind and version once, for all items', () => {
    const { data } = object;
    expect(JSON.parse(showList(page, resource, view('object')))).toEqual({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '9' },
      items: [{ metadata, data }],
    });
  });
  test('lists metadata', () =>
    expect(JSON.parse(showList(page, resource, view('metadata')))).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', metadata }],
    }));
  test('lists objects as the rows of a table', () =>
    expect(JSON.parse(showList(page, resource, view('table')))).toMatchObject({
      metadata: { resourceVersion: '9' },
      rows: [{ cells: ['a', '1', '60s'] }],
    }));
  test('names a list after its kind', () => expect(listKindOf(resource)).toBe('ConfigMapList'));
});

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const accepted: { name: string; accept: string | undefined; expected: object }[] = [
  {
    name: 'JSON when the client asks for nothing else',
    accept: undefined,
    expected: { representation: 'object', format: 'json' },
  },
  { name: 'JSON for anything', accept: '*/*', expected: { representation: 'object', format: 'json' } },
  { name: 'YAML', accept: 'application/yaml', expected: { representation: 'object', format: 'yaml' } },
  { name: 'a table', accept: table, expected: { representation: 'table', format: 'json' } },
  {
    name: 'JSON instead of protobuf',
    accept: 'application/vnd.kubernetes.protobuf,application/json',
    expected: { representation: 'object', format: 'json' },
  },
  {
    name: 'the next form when a table has an unknown version',
    accept: 'application/json;as=Table;v=v9;g=meta.k8s.io,application/json',
    expected: { representation: 'object', format: 'json' },
  },
];

describe('negotiate', () => {
  for (const { name, accept, expected } of accepted) {
    test(`chooses ${name}`, () => expect(negotiate(accept)).toEqual(expected));
  }
  test('refuses a form that the server does not have', () =>
    expect(() => negotiate('text/html')).toThrow(expect.objectContaining({ code: 406 })));
});
