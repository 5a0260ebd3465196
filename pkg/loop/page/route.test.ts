import { describe, expect, test } from 'vitest';

import { hrefOfObject, hrefOfView, objectOfKey, parseRoute, queryOfRoute } from './route.ts';

const noFilter = { namespace: '', kind: '', name: '' };

describe('parseRoute', () => {
  test.each([
    { hash: '', expected: { view: 'cluster', filter: noFilter } },
    {
      hash: '#/cluster?namespace=shop&name=web',
      expected: { view: 'cluster', filter: { ...noFilter, namespace: 'shop', name: 'web' } },
    },
    { hash: '#/loop', expected: { view: 'loop', filter: noFilter } },
    {
      hash: '#/objects/pods/shop/web-1',
      expected: { view: 'object', object: { resource: 'pods', namespace: 'shop', name: 'web-1' } },
    },
    {
      hash: '#/objects/nodes/-/node-1',
      expected: { view: 'object', object: { resource: 'nodes', namespace: undefined, name: 'node-1' } },
    },
    { hash: '#/objects/nodes', expected: { view: 'cluster', filter: noFilter } },
    {
      hash: '#/objects/pods/shop/%E0%A4%A',
      expected: { view: 'object', object: { resource: 'pods', namespace: 'shop', name: '%E0%A4%A' } },
    },
  ])('reads $hash', ({ hash, expected }) => {
    expect(parseRoute(hash)).toEqual(expected);
  });
});

test('a link to an object leads to it, whatever its name', () => {
  const object = {
    resource: 'clusterroles.rbac.authorization.k8s.io',
    namespace: undefined,
    name: 'system:node?a/b#c',
  };
  expect(parseRoute(hrefOfObject(object))).toEqual({ view: 'object', object });
});

test('a link to a view keeps the filter, and no empty fields', () => {
  expect(hrefOfView('loop', { namespace: 'shop', kind: '' })).toBe('#/loop?namespace=shop');
  expect(hrefOfView('cluster', {})).toBe('#/cluster');
});

test('the stream of an object names it, and that of a view its filter', () => {
  expect(queryOfRoute(parseRoute('#/objects/nodes/-/node-1'))).toBe('object=nodes%2F-%2Fnode-1');
  expect(queryOfRoute(parseRoute('#/cluster?kind=Pod'))).toBe('kind=Pod');
});

test.each([
  { key: 'shop/web', expected: { resource: 'pods', namespace: 'shop', name: 'web' } },
  { key: 'node-1', expected: { resource: 'pods', name: 'node-1' } },
  { key: 'a/b/c', expected: undefined },
  { key: '', expected: undefined },
])('the key $key names an object, or none', ({ key, expected }) => {
  expect(objectOfKey('pods', key)).toEqual(expected);
});
