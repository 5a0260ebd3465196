import { describe, expect, test } from 'vitest';

import { Pods, StatefulSets, type OwnerReference, type PersistentVolumeClaim } from '../../pkg/api/index.ts';
import { frozen, persistentVolumeClaim, statefulSet } from '../../test/support/builders.ts';
import { hasStaleClaim, planRetention } from './retention.ts';

const setOf = (whenDeleted: string, whenScaled: string) =>
  frozen(
    statefulSet({
      name: 'web',
      spec: {
        replicas: 2,
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }] as PersistentVolumeClaim[],
        persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
      },
    }),
  );
const reference = (kind: typeof Pods | typeof StatefulSets, name: string, uid: string): OwnerReference => ({
  apiVersion: kind === Pods ? 'v1' : 'apps/v1',
  kind: kind.kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});
const ofSet = reference(StatefulSets, 'web', 'uid-statefulset-default-web');
const ofPod = (ordinal: number) => reference(Pods, `web-${ordinal}`, `uid-${ordinal}`);
const ofOther: OwnerReference = { apiVersion: 'x/v1', kind: 'Other', name: 'other', uid: 'other', controller: true };
const user = (ordinal: number) => ({ name: `web-${ordinal}`, uid: `uid-${ordinal}`, ordinal });
const claimed = (ordinal: number, ownerReferences: OwnerReference[]) => {
  const name = `data-web-${ordinal}`;
  return new Map([[name, frozen(persistentVolumeClaim({ name, metadata: { ownerReferences } }))]]);
};

describe('the owners of a claim', () => {
  const kept = 'current' as const;
  const rows: {
    name: string;
    policy: [whenDeleted: string, whenScaled: string];
    ordinal?: number;
    owners: OwnerReference[];
    expected: OwnerReference[] | typeof kept;
    conflict?: boolean;
  }[] = [
    { name: 'none if all is retained', policy: ['Retain', 'Retain'], owners: [], expected: kept },
    { name: 'none any more', policy: ['Retain', 'Retain'], owners: [ofSet, ofOther], expected: [ofOther] },
    { name: 'no pod of a scale-down', policy: ['Retain', 'Retain'], ordinal: 2, owners: [ofPod(2)], expected: [] },
    { name: 'the set, with which it goes', policy: ['Delete', 'Retain'], owners: [], expected: [ofSet] },
    { name: 'the set only', policy: ['Delete', 'Retain'], owners: [ofSet], expected: kept },
    {
      name: 'the set after a scale-down too',
      policy: ['Delete', 'Retain'],
      ordinal: 2,
      owners: [ofPod(2)],
      expected: [ofSet],
    },
    { name: 'no owner while the pod stays', policy: ['Retain', 'Delete'], owners: [], expected: kept },
    { name: 'no owner after a scale-up', policy: ['Retain', 'Delete'], owners: [ofPod(1)], ordinal: 1, expected: [] },
    { name: 'the pod of a scale-down', policy: ['Retain', 'Delete'], ordinal: 2, owners: [], expected: [ofPod(2)] },
    { name: 'the set while the pod stays', policy: ['Delete', 'Delete'], owners: [], expected: [ofSet] },
    {
      name: 'the pod instead of the set',
      policy: ['Delete', 'Delete'],
      ordinal: 2,
      owners: [ofSet],
      expected: [ofPod(2)],
    },
    {
      name: 'as wanted after a scale-down',
      policy: ['Delete', 'Delete'],
      ordinal: 2,
      owners: [ofPod(2)],
      expected: kept,
    },
    {
      name: 'a controller, not just an owner',
      policy: ['Delete', 'Retain'],
      owners: [{ ...ofSet, controller: false }],
      expected: [ofSet],
    },
    {
      name: 'left alone if an earlier set owns it',
      policy: ['Delete', 'Delete'],
      owners: [{ ...ofSet, uid: 'earlier' }],
      expected: kept,
      conflict: true,
    },
    {
      name: 'left alone if an earlier pod owns it',
      policy: ['Retain', 'Delete'],
      ordinal: 2,
      owners: [{ ...ofPod(2), uid: 'earlier' }],
      expected: kept,
      conflict: true,
    },
    {
      name: 'left to another controller',
      policy: ['Delete', 'Delete'],
      owners: [ofOther],
      expected: kept,
      conflict: true,
    },
    {
      name: 'another controller alone',
      policy: ['Delete', 'Delete'],
      owners: [ofOther, ofSet],
      expected: [ofOther],
      conflict: true,
    },
    {
      name: 'an owner that does not control beside the set',
      policy: ['Delete', 'Delete'],
      owners: [{ ...ofOther, controller: false }],
      expected: [{ ...ofOther, controller: false }, ofSet],
    },
  ];
  for (const { name, policy, ordinal = 0, owners, expected, conflict = false } of rows) {
    test(`${policy.join('/')}: ${name}`, () => {
      const plan = planRetention(setOf(...policy), user(ordinal), claimed(ordinal, owners));
      expect(plan.conflicts).toHaveLength(conflict ? 1 : 0);
      expect(plan.update.map((update) => update.owners)).toEqual(expected === kept ? [] : [expected]);
    });
  }

  test('a claim that does not exist is not changed', () => {
    expect(planRetention(setOf('Delete', 'Delete'), user(0), new Map())).toEqual({ conflicts: [], update: [] });
  });
});

describe('hasStaleClaim', () => {
  const rows = [
    { name: 'the claim of the pod of an earlier scale-down', whenScaled: 'Delete', owners: [ofPod(1)], expected: true },
    { name: 'not a claim of the set', whenScaled: 'Delete', owners: [ofSet], expected: false },
    { name: 'never if claims are retained', whenScaled: 'Retain', owners: [ofPod(1)], expected: false },
  ];
  for (const { name, whenScaled, owners, expected } of rows) {
    test(name, () => {
      const pod = { name: 'web-1', uid: undefined, ordinal: 1 };
      expect(hasStaleClaim(setOf('Retain', whenScaled), pod, claimed(1, owners))).toBe(expected);
    });
  }
});
