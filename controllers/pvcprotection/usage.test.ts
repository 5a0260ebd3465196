import { describe, expect, test } from 'vitest';

import { Pods, type PersistentVolumeClaim, type Pod } from '../../pkg/api/index.ts';
import { frozen, persistentVolumeClaim, pod } from '../../test/support/builders.ts';
import { isUsedBy, selectUnused } from './usage.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
const named = [{ name: 'data', persistentVolumeClaim: { claimName: 'user-data' } }];
const ephemeral = [{ name: 'data', ephemeral: { volumeClaimTemplate: { spec: {} } } }];
const onNode = { nodeName: 'node' };
const forced = { deletionTimestamp, deletionGracePeriodSeconds: 0 };
const running = { phase: 'Running', containerStatuses: [status({ running: {} })] };

function status(state: object) {
  return { name: 'app', image: '', imageID: '', ready: false, restartCount: 0, state };
}
const user = (spec: Partial<Pod['spec']>, rest: Partial<Pod> = {}): Pod => {
  const { metadata, ...described } = rest;
  return pod({ name: 'user', spec, ...described, ...(metadata && { metadata }) });
};
const claimOf = (fields: Parameters<typeof persistentVolumeClaim>[0] = {}): PersistentVolumeClaim =>
  persistentVolumeClaim({ name: 'user-data', ...fields });
const terminating = { metadata: { deletionTimestamp } };
const owned = { owner: { kind: Pods, object: frozen(pod({ name: 'user' })) } };

describe('a claim that is being deleted is used by', () => {
  test.each<{ title: string; by: Pod; claim?: PersistentVolumeClaim; expected: boolean }>([
    { title: 'a pod with a node', by: user({ ...onNode, volumes: named }), expected: true },
    { title: 'no pod without a node', by: user({ volumes: named }), expected: false },
    { title: 'no pod whose node is empty', by: user({ nodeName: '', volumes: named }), expected: false },
    {
      title: 'a finished pod',
      by: user({ ...onNode, volumes: named }, { status: { phase: 'Succeeded' } }),
      expected: true,
    },
    {
      title: 'a pod that was deleted by force and is still there',
      by: user({ ...onNode, volumes: named }, { metadata: forced as Pod['metadata'] }),
      expected: true,
    },
    { title: 'no pod that names another', by: user({ ...onNode, volumes: [] }), expected: false },
    {
      title: 'no pod of another namespace',
      by: pod({ name: 'user', namespace: 'other', spec: { ...onNode, volumes: named } }),
      expected: false,
    },
    {
      title: 'the pod of an ephemeral volume',
      by: user({ ...onNode, volumes: ephemeral }),
      claim: claimOf({ ...terminating, ...owned }),
      expected: true,
    },
    {
      title: 'no pod of an ephemeral volume that does not control it',
      by: user({ ...onNode, volumes: ephemeral }),
      expected: false,
    },
    {
      title: 'no pod of an ephemeral volume that the kubelet is done with',
      by: user({ ...onNode, volumes: ephemeral }, { metadata: forced as Pod['metadata'] }),
      claim: claimOf({ ...terminating, ...owned }),
      expected: false,
    },
    {
      title: 'the pod of an ephemeral volume in its grace period',
      by: user(
        { ...onNode, volumes: ephemeral },
        { metadata: { ...forced, deletionGracePeriodSeconds: 30 } as Pod['metadata'] },
      ),
      claim: claimOf({ ...terminating, ...owned }),
      expected: true,
    },
  ])('$title', ({ by, claim = claimOf(terminating), expected }) => {
    expect(isUsedBy(frozen(by), frozen(claim))).toBe(expected);
  });
});

describe('any other claim is used by', () => {
  test.each<{ title: string; by: Pod; claim?: PersistentVolumeClaim; expected: boolean }>([
    { title: 'a pod without a node', by: user({ volumes: named }), expected: true },
    {
      title: 'no finished pod',
      by: user({ ...onNode, volumes: named }, { status: { phase: 'Failed' } }),
      expected: false,
    },
    {
      title: 'a terminating pod that runs',
      by: user({ ...onNode, volumes: named }, { metadata: forced as Pod['metadata'], status: running }),
      expected: true,
    },
    {
      title: 'no terminating pod whose containers have stopped',
      by: user(
        { ...onNode, volumes: named },
        {
          metadata: forced as Pod['metadata'],
          status: { phase: 'Running', containerStatuses: [status({ waiting: {} })] },
        },
      ),
      expected: false,
    },
    {
      title: 'no pod of an ephemeral volume that does not control it',
      by: user({ volumes: ephemeral }),
      expected: false,
    },
    {
      title: 'the pod of an ephemeral volume',
      by: user({ volumes: ephemeral }),
      claim: claimOf(owned),
      expected: true,
    },
  ])('$title', ({ by, claim = claimOf(), expected }) => {
    expect(isUsedBy(frozen(by), frozen(claim))).toBe(expected);
  });
});

test('the unused claims are those that no pod uses', () => {
  const claims = ['user-data', 'constructor', 'other'].map((name) => frozen(claimOf({ name })));
  const volumes = [...named, { name: 'more', persistentVolumeClaim: { claimName: 'constructor' } }];
  const pods = [frozen(user({ volumes })), frozen(user({ volumes: named }))];
  expect(selectUnused(claims, pods).map(({ metadata }) => metadata.name)).toEqual(['other']);
});
