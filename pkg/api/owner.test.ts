import { describe, expect, test } from 'vitest';

import { Deployments, Nodes } from './kinds.ts';
import type { OwnerReference } from './objects.ts';
import { controllerOf, controllerReference, isControlledBy } from './owner.ts';

const reference = (uid: string, controller?: boolean): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'web',
  uid,
  controller,
});
const owner = (uid: string | undefined): { metadata: { uid: string | undefined } } => ({ metadata: { uid } });

describe('the controller of an object', () => {
  const rows = [
    { name: 'is absent without owner references', references: undefined, uid: undefined },
    { name: 'is absent in an empty list', references: [], uid: undefined },
    { name: 'is no owner without the controller field', references: [reference('a')], uid: undefined },
    { name: 'is no owner with controller: false', references: [reference('a', false)], uid: undefined },
    { name: 'is the owner with controller: true', references: [reference('a', true)], uid: 'a' },
    { name: 'may be the second owner', references: [reference('a', false), reference('b', true)], uid: 'b' },
    { name: 'is the first of two', references: [reference('a', true), reference('b', true)], uid: 'a' },
  ];
  for (const { name, references, uid } of rows) {
    const object = { metadata: { ownerReferences: references } };
    test(name, () => expect(controllerOf(object)?.uid).toBe(uid));
    test(`${name}: isControlledBy agrees`, () => {
      expect(isControlledBy(object, owner('a'))).toBe(uid === 'a');
      expect(isControlledBy(object, owner('b'))).toBe(uid === 'b');
    });
  }

  test('an object without a controller is not controlled by an owner without a uid', () => {
    expect(isControlledBy({ metadata: {} }, owner(undefined))).toBe(false);
  });
});

describe('controllerReference', () => {
  const metadata = { name: 'web', namespace: 'a', uid: 'u1', resourceVersion: '1', creationTimestamp: '' };

  test('blocks the deletion of the owner and names its kind', () => {
    expect(controllerReference(Deployments, { metadata })).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
      uid: 'u1',
      controller: true,
      blockOwnerDeletion: true,
    });
  });

  test('writes the core group as v1', () => expect(controllerReference(Nodes, { metadata }).apiVersion).toBe('v1'));

  test('makes the owner the controller', () => {
    const owned = { metadata: { ownerReferences: [controllerReference(Deployments, { metadata })] } };
    expect(isControlledBy(owned, { metadata })).toBe(true);
  });
});
