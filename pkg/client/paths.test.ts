import { describe, expect, test } from 'vitest';

import { ClusterRoles, Deployments, Nodes, objectKey, Pods, type ObjectKey } from '../api/index.ts';
import { InvalidNameError } from './errors.ts';
import { collectionPath, namespaceIn, objectPath, query } from './paths.ts';

describe('paths', () => {
  const rows: readonly [string, string, string][] = [
    ['a namespaced object of the core group', objectPath(Pods, objectKey('ns', 'a')), '/api/v1/namespaces/ns/pods/a'],
    ['a subresource', objectPath(Pods, objectKey('ns', 'a'), 'status'), '/api/v1/namespaces/ns/pods/a/status'],
    ['another group', objectPath(Deployments, objectKey('ns', 'a')), '/apis/apps/v1/namespaces/ns/deployments/a'],
    ['a cluster-wide object', objectPath(Nodes, objectKey(undefined, 'n')), '/api/v1/nodes/n'],
    ['a collection of all namespaces', collectionPath(Pods, undefined), '/api/v1/pods'],
    ['a collection of one namespace', collectionPath(Pods, 'ns'), '/api/v1/namespaces/ns/pods'],
    [
      'a name with colons',
      objectPath(ClusterRoles, objectKey(undefined, 'system:controller:x')),
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:controller:x',
    ],
    ['a name that needs escaping', objectPath(Nodes, objectKey(undefined, 'a?b#c d')), '/api/v1/nodes/a%3Fb%23c%20d'],
  ];
  for (const [name, path, expected] of rows) test(name, () => expect(path).toBe(expected));

  test('refuses an empty name, which would mean the whole collection', () => {
    expect(() => objectPath(Pods, objectKey('ns', ''))).toThrow('a name is needed');
  });
  test('refuses a namespaced object without its namespace', () => {
    expect(() => objectPath(Pods, objectKey(undefined, 'a'))).toThrow('a namespace is needed');
  });
  for (const name of ['.', '..', '../nodes', '%2e%2e', 'a/b']) {
    test(`refuses ${name}, which would change the path`, () => {
      expect(() => objectPath(Pods, objectKey(name, 'a'))).toThrow(InvalidNameError);
      expect(() => objectPath(Nodes, name as ObjectKey)).toThrow(InvalidNameError);
    });
  }
});

describe('query', () => {
  test('has the parameters that are set, escaped', () => {
    expect(query({ labelSelector: 'a in (b,c)', limit: 5, watch: true, force: false, x: undefined, y: '' })).toBe(
      '?labelSelector=a%20in%20(b%2Cc)&limit=5&watch=true',
    );
  });
  test('is empty without parameters', () => expect(query({})).toBe(''));
});

describe('namespaceIn', () => {
  const rows: readonly [string, string][] = [
    ['/api/v1/namespaces/ns/pods/a', 'ns'],
    ['/apis/apps/v1/namespaces/ns/deployments?limit=500', 'ns'],
    ['/api/v1/namespaces/ns', 'ns'],
    ['/api/v1/namespaces/ns?x=1', 'ns'],
    ['/api/v1/namespaces', ''],
    ['/api/v1/nodes/a', ''],
    ['/healthz', ''],
  ];
  for (const [path, namespace] of rows) test(path, () => expect(namespaceIn(path)).toBe(namespace));
});
