import { describe, expect, test } from 'vitest';

import type { Cached, PersistentVolumeClaim, Pod, PodStatus, StatefulSet } from '../../pkg/api/index.ts';
import {
  creationTime,
  frozen,
  persistentVolumeClaim,
  pod,
  runningStatus,
  statefulSet,
} from '../../test/support/builders.ts';
import { podNameLabel } from './identity.ts';
import { revisionHashLabel } from '../../pkg/revisions/index.ts';
import { isChangingPods, planPods, type PodsPlan } from './plan.ts';
import { arrangePods } from './replicas.ts';

const nowMs = Date.parse(creationTime) + 60_000;
const template = { spec: { containers: [] } };
const versions = { current: { name: 'web-1', template }, update: { name: 'web-2', template } };

type PodState = 'ready' | 'unready' | 'pending' | 'failed' | 'succeeded' | 'terminating' | 'finished and terminating';
const statuses: Readonly<Record<PodState, PodStatus>> = {
  ready: runningStatus(),
  unready: runningStatus({ ready: false }),
  pending: { phase: 'Pending' },
  failed: { phase: 'Failed' },
  succeeded: { phase: 'Succeeded' },
  terminating: runningStatus(),
  'finished and terminating': { phase: 'Failed' },
};

/** `old`: at the current revision instead of the update revision. */
type Described = PodState | `old ${PodState}` | 'unlabelled';

function member(ordinal: number, described: Described): Cached<Pod> {
  const state = (described === 'unlabelled' ? 'ready' : described.replace('old ', '')) as PodState;
  const name = `web-${ordinal}`;
  const revision = described.startsWith('old ') ? 'web-1' : 'web-2';
  const labels = { [revisionHashLabel]: revision, ...(described !== 'unlabelled' && { [podNameLabel]: name }) };
  const metadata = state.includes('terminating') ? { deletionTimestamp: creationTime } : {};
  return frozen(pod({ name, labels, metadata, status: statuses[state], spec: { volumes: [] } }));
}

interface Given {
  readonly pods: Readonly<Record<number, Described>>;
  readonly spec?: Partial<StatefulSet['spec']>;
  readonly isDeleted?: boolean;
  readonly maxUnavailable?: number;
  readonly claims?: readonly PersistentVolumeClaim[];
}

function plan({ pods, spec, isDeleted = false, maxUnavailable, claims = [] }: Given): PodsPlan {
  const metadata = isDeleted ? { deletionTimestamp: creationTime } : {};
  const set = frozen(statefulSet({ name: 'web', metadata, spec: { replicas: 3, ...spec } }));
  const members = Object.entries(pods).map(([ordinal, described]) => member(Number(ordinal), described));
  const known = new Map(claims.map((claim) => [claim.metadata.name, frozen(claim)]));
  const { minReadySeconds = 0 } = set.spec;
  const input = { set, arrangement: arrangePods(set, members), versions, claims: known };
  return planPods({ ...input, maxUnavailable, minReadySeconds, nowMs });
}

const nameOf = (object: { metadata: { name?: string | undefined } }): string => object.metadata.name ?? '';

/** The writes in order, as words. */
function words(planned: PodsPlan): string[] {
  const steps = planned.replicas.flat().map((step) => {
    if (step.kind === 'create') return `create ${nameOf(step.pod)}`;
    return step.kind === 'replace' ? `replace ${nameOf(step.pod)}` : `${step.kind} ${step.podName}`;
  });
  const scaleDown = planned.scaleDown.map((each) => `delete ${nameOf(each)}`);
  return [...steps, ...scaleDown, ...planned.outdated.map((each) => `update ${nameOf(each)}`)];
}

const parallel = { podManagementPolicy: 'Parallel' };
const ready3 = { 0: 'ready', 1: 'ready', 2: 'ready' } as const;

describe('in order', () => {
  const rows: (Given & { name: string; expected: string[] })[] = [
    { name: 'creates the first pod alone', pods: {}, expected: ['create web-0'] },
    { name: 'creates the next once all before it are ready', pods: { 0: 'ready' }, expected: ['create web-1'] },
    { name: 'waits for a pod that is not ready', pods: { 0: 'unready' }, expected: [] },
    { name: 'waits for a pod that is terminating', pods: { 0: 'terminating', 1: 'ready' }, expected: [] },
    {
      name: 'fills a gap before anything else',
      pods: { 0: 'ready', 2: 'ready', 3: 'ready' },
      expected: ['create web-1'],
    },
    { name: 'replaces a failed pod', pods: { 0: 'ready', 1: 'failed', 2: 'ready' }, expected: ['replace web-1'] },
    { name: 'replaces a succeeded pod', pods: { 0: 'succeeded' }, expected: ['replace web-0'] },
    { name: 'waits for the deletion of a finished pod', pods: { 0: 'finished and terminating' }, expected: [] },
    { name: 'waits for minReadySeconds', pods: { 0: 'ready' }, spec: { minReadySeconds: 61 }, expected: [] },
    { name: 'restores the label of a pod', pods: { ...ready3, 1: 'unlabelled' }, expected: ['update web-1'] },
    { name: 'starts at the first ordinal', pods: {}, spec: { ordinals: { start: 4 } }, expected: ['create web-4'] },
    { name: 'does nothing for a set that is being deleted', pods: {}, isDeleted: true, expected: [] },
    { name: 'deletes the highest ordinal', pods: { ...ready3, 3: 'ready', 4: 'ready' }, expected: ['delete web-4'] },
    {
      name: 'deletes pods below the start too',
      pods: { 0: 'ready', 1: 'ready', 2: 'ready' },
      spec: { replicas: 2, ordinals: { start: 1 } },
      expected: ['delete web-0'],
    },
    { name: 'waits while a pod terminates', pods: { ...ready3, 3: 'ready', 4: 'terminating' }, expected: [] },
    {
      name: 'deletes no pod above one that is not ready',
      pods: { ...ready3, 3: 'unready', 4: 'unready' },
      expected: [],
    },
    {
      name: 'deletes the only pod that is not ready',
      pods: { ...ready3, 3: 'ready', 4: 'unready' },
      expected: ['delete web-4'],
    },
    {
      name: 'scales down before it updates',
      pods: { ...ready3, 2: 'old ready', 3: 'ready' },
      expected: ['delete web-3'],
    },
    {
      name: 'updates the highest ordinal first',
      pods: { 0: 'old ready', 1: 'old ready', 2: 'old ready' },
      expected: ['update web-2'],
    },
    {
      name: 'updates one after the other',
      pods: { 0: 'old ready', 1: 'old ready', 2: 'ready' },
      expected: ['update web-1'],
    },
    {
      name: 'waits for a broken pod, even at another revision',
      pods: { 0: 'old unready', 1: 'ready', 2: 'ready' },
      expected: [],
    },
    {
      name: 'updates no pod below the partition',
      pods: { 0: 'old ready', 1: 'old ready', 2: 'ready' },
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } },
      expected: [],
    },
    {
      name: 'updates nothing with OnDelete',
      pods: { 0: 'old ready', 1: 'old ready', 2: 'old ready' },
      spec: { updateStrategy: { type: 'OnDelete' } },
      expected: [],
    },
    {
      name: 'updates several with maxUnavailable',
      pods: { 0: 'old ready', 1: 'old ready', 2: 'old ready' },
      maxUnavailable: 2,
      expected: ['update web-2', 'update web-1'],
    },
  ];
  for (const { name, expected, ...given } of rows) {
    test(name, () => {
      const planned = plan(given);
      expect(words(planned)).toEqual(expected);
      expect(planned.isOrdered).toBe(true);
    });
  }
});

describe('in parallel', () => {
  const rows: (Given & { name: string; expected: string[] })[] = [
    { name: 'creates all pods', pods: { 1: 'unready' }, expected: ['create web-0', 'create web-2'] },
    {
      name: 'replaces a failed pod beside others',
      pods: { 0: 'failed', 1: 'ready' },
      expected: ['replace web-0', 'create web-2'],
    },
    {
      name: 'deletes all surplus pods, the highest first',
      pods: { ...ready3, 3: 'unready', 4: 'terminating', 5: 'ready' },
      expected: ['delete web-5', 'delete web-3'],
    },
    {
      name: 'updates while it scales down',
      pods: { ...ready3, 2: 'old ready', 3: 'ready' },
      expected: ['delete web-3', 'update web-2'],
    },
    {
      name: 'replaces a broken pod that is outdated',
      pods: { 0: 'ready', 1: 'ready', 2: 'old unready' },
      expected: ['update web-2'],
    },
    {
      name: 'updates nothing while a higher pod is unavailable',
      pods: { 0: 'old ready', 1: 'old ready', 2: 'unready' },
      expected: [],
    },
    {
      name: 'counts all unavailable pods against maxUnavailable',
      pods: { 0: 'old ready', 1: 'unready', 2: 'old ready' },
      maxUnavailable: 2,
      expected: ['update web-2'],
    },
    {
      name: 'updates nothing beyond maxUnavailable',
      pods: { 0: 'unready', 1: 'terminating', 2: 'old ready' },
      maxUnavailable: 2,
      expected: [],
    },
  ];
  for (const { name, expected, ...given } of rows) {
    test(name, () => {
      const planned = plan({ ...given, spec: { ...parallel, ...given.spec } });
      expect(words(planned)).toEqual(expected);
      expect(planned.isOrdered).toBe(false);
    });
  }
});

test('plans for some of two billion pods at a time', () => {
  const billions = { replicas: 2 ** 31 - 1 };
  expect(words(plan({ pods: {}, spec: billions }))).toEqual(['create web-0']);
  expect(words(plan({ pods: { 1: 'ready' }, spec: { ...billions, ...parallel } }))).toHaveLength(500);
});

describe('the claims of pods', () => {
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: {} }] as PersistentVolumeClaim[];
  const spec = { replicas: 1, volumeClaimTemplates };
  const deletes = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } };

  test('are made before the pod', () => {
    const [[step] = []] = plan({ pods: {}, spec }).replicas;
    expect(step).toMatchObject({ kind: 'create', claims: { create: [{ metadata: { name: 'data-web-0' } }] } });
  });

  test('are made again for a pending pod', () => {
    const [[step] = []] = plan({ pods: { 0: 'pending' }, spec }).replicas;
    expect(step).toMatchObject({ kind: 'provide', claims: { create: [{ metadata: { name: 'data-web-0' } }] } });
  });

  test('are written once for a pending pod that gets its identity and its volumes too', () => {
    const policy = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' } };
    const claims = [persistentVolumeClaim({ name: 'data-web-0' })];
    const given = { pods: { 0: 'pending' }, spec: { ...spec, ...parallel, ...policy } } as const;
    const [steps = []] = plan({ ...given, claims }).replicas;
    expect(steps).toMatchObject([
      { kind: 'provide', retention: { update: [{ claim: { metadata: { name: 'data-web-0' } } }] } },
      { kind: 'update', claims: { create: [] }, retention: { update: [] }, fixed: { metadata: { name: 'web-0' } } },
    ]);
    const [missing = []] = plan(given).replicas;
    expect(missing).toMatchObject([
      { kind: 'provide', claims: { create: [{ metadata: { name: 'data-web-0' } }] } },
      { kind: 'update', claims: { create: [] } },
    ]);
  });

  test('keep the pod waiting while the claim of an earlier pod exists', () => {
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid: 'earlier', controller: true };
    const claims = [persistentVolumeClaim({ name: 'data-web-0', metadata: { ownerReferences: [owner] } })];
    expect(words(plan({ pods: {}, spec: { ...spec, ...deletes }, claims }))).toEqual([]);
  });

  test('of a scale-down get their owner before the pod is deleted', () => {
    const claims = [persistentVolumeClaim({ name: 'data-web-1' })];
    const planned = plan({ pods: { 1: 'ready' }, spec: { ...spec, ...deletes, replicas: 0 }, claims });
    expect(planned.retention).toMatchObject([{ update: [{ owners: [{ kind: 'Pod', name: 'web-1' }] }] }]);
    expect(words(planned)).toEqual(['delete web-1']);
  });
});

describe('isChangingPods', () => {
  const rows: { name: string; given: Given; expected: boolean }[] = [
    { name: 'is true for a missing pod', given: { pods: { 0: 'ready' } }, expected: true },
    { name: 'is true for a failed pod', given: { pods: { 0: 'failed' } }, expected: true },
    {
      name: 'is true for a pod beyond the replicas',
      given: { pods: { 0: 'ready', 1: 'ready' }, spec: { replicas: 1 } },
      expected: true,
    },
    { name: 'is false while a pod starts', given: { pods: { 0: 'pending' } }, expected: false },
    { name: 'is false for a label', given: { pods: { 0: 'unlabelled' }, spec: { replicas: 1 } }, expected: false },
    {
      name: 'is false when there is nothing to do',
      given: { pods: { 0: 'ready', 1: 'ready', 2: 'ready' } },
      expected: false,
    },
  ];
  for (const { name, given, expected } of rows) {
    test(name, () => expect(isChangingPods(plan(given))).toBe(expected));
  }
});
