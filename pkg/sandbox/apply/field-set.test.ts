import { describe, expect, test } from 'vitest';

import { Registry } from '../registry/index.ts';
import {
  describePath,
  fieldsOf,
  fromFieldsV1,
  hasBelow,
  intersect,
  mapsOf,
  subtract,
  toFieldsV1,
  union,
} from './field-set.ts';
import { mergeApplied, valueAt, without } from './merge.ts';
import { shapeOf } from './shape.ts';

const shape = shapeOf(new Registry().get('', 'v1', 'services'));
const service = {
  metadata: { labels: { a: 'b' }, finalizers: ['x', 'y'] },
  spec: { ports: [{ port: 80, name: 'web' }], clusterIPs: ['1.2.3.4'], selector: { a: 'b' } },
};
const webPort = 'k:{"port":80,"protocol":"TCP"}';
const portPath = ['f:spec', 'f:ports', webPort];

describe('the fields of an object', () => {
  const fields = fieldsOf(service, shape);

  test('are those of its maps, of its keyed items and of its sets', () =>
    expect([...fields.values()].map(describePath)).toEqual([
      '.metadata.labels.a',
      '.metadata.finalizers[="x"]',
      '.metadata.finalizers[="y"]',
      '.spec.ports[port=80,protocol="TCP"]',
      '.spec.ports[port=80,protocol="TCP"].port',
      '.spec.ports[port=80,protocol="TCP"].name',
      '.spec.clusterIPs',
      '.spec.selector',
    ]));

  test('survive the form of managedFields', () => expect(fromFieldsV1(toFieldsV1(fields))).toEqual(fields));

  test('mark an item that is itself owned', () =>
    expect(toFieldsV1(fields)).toMatchObject({ 'f:spec': { 'f:ports': { [webPort]: { '.': {}, 'f:port': {} } } } }));

  test('leave out null and absent fields', () =>
    expect([...fieldsOf({ spec: { type: null, externalName: undefined } }, shape)]).toEqual([]));

  test('count an empty map as a field of its own', () =>
    expect([...fieldsOf({ metadata: { labels: {} } }, shape).values()].map(describePath)).toEqual([
      '.metadata.labels',
    ]));
});

test('mapsOf finds the maps that are not empty', () =>
  expect([...mapsOf(service, shape).values()].map(describePath)).toEqual(['.metadata.labels']));

describe('sets of fields', () => {
  const set = (...names: string[]) => fromFieldsV1(Object.fromEntries(names.map((name) => [`f:${name}`, {}])));
  const names = (fields: ReturnType<typeof set>) => [...fields.values()].map(describePath);
  test('unite', () => expect(names(union(set('a'), set('b', 'a')))).toEqual(['.a', '.b']));
  test('subtract', () => expect(names(subtract(set('a', 'b'), set('b')))).toEqual(['.a']));
  test('intersect', () => expect(names(intersect(set('a', 'b'), set('b', 'c')))).toEqual(['.b']));
  test('know the fields below a path, and that a longer name is not below it', () => {
    const fields = fromFieldsV1({ 'f:a': { 'f:b': {} }, 'f:ab': {} });
    expect(hasBelow(fields, ['f:a'])).toBe(true);
    expect(hasBelow(fields, ['f:ab'])).toBe(false);
    expect(hasBelow(fields, ['f:a', 'f:b'])).toBe(false);
  });
});

describe('valueAt', () => {
  test('finds an item by the values of its keys, set or by default', () =>
    expect(valueAt(service, [...portPath, 'f:name'], shape)).toBe('web'));
  test('finds nothing where there is no such item', () =>
    expect(valueAt(service, ['f:spec', 'f:ports', 'k:{"port":81,"protocol":"TCP"}'], shape)).toBeUndefined());
  test('finds a value of a set', () =>
    expect(valueAt(service, ['f:metadata', 'f:finalizers', 'v:"x"'], shape)).toBe('x'));
});

describe('without', () => {
  test('takes an item out of a list', () =>
    expect(without({ spec: service.spec }, portPath, shape)).toEqual({ spec: { ...service.spec, ports: [] } }));
  test('takes a field out of an item', () =>
    expect(without({ spec: { ports: service.spec.ports } }, [...portPath, 'f:name'], shape)).toEqual({
      spec: { ports: [{ port: 80 }] },
    }));
  test('takes a value out of a set', () =>
    expect(without({ metadata: service.metadata }, ['f:metadata', 'f:finalizers', 'v:"x"'], shape)).toEqual({
      metadata: { labels: { a: 'b' }, finalizers: ['y'] },
    }));
  test('leaves an object that does not have the field', () =>
    expect(without({ a: 1 }, ['f:b'], shape)).toEqual({ a: 1 }));
});

describe('mergeApplied', () => {
  test('merges keyed items, and appends new ones', () => {
    const applied = { spec: { ports: [{ port: 80, targetPort: 8080 }, { port: 81 }] } };
    expect(mergeApplied({ spec: { ports: service.spec.ports } }, applied, shape)).toEqual({
      spec: { ports: [{ port: 80, name: 'web', targetPort: 8080 }, { port: 81 }] },
    });
  });
  test('unites sets', () =>
    expect(mergeApplied({ metadata: { finalizers: ['x'] } }, { metadata: { finalizers: ['z', 'x'] } }, shape)).toEqual({
      metadata: { finalizers: ['x', 'z'] },
    }));
  test('replaces an atomic value as a whole', () =>
    expect(mergeApplied({ spec: { selector: { a: 'b' } } }, { spec: { selector: { c: 'd' } } }, shape)).toEqual({
      spec: { selector: { c: 'd' } },
    }));
});
