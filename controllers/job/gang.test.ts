import { describe, expect, test } from 'vitest';

import {
  PodGroups,
  Workloads,
  type JobSpec,
  type JobStatus,
  type PodGroup,
  type Workload,
} from '../../pkg/api/index.ts';
import { build, frozen, job } from '../../test/support/builders.ts';
import { jobPod } from '../../test/support/job-pods.ts';
import {
  choosePodGroup,
  chooseWorkload,
  isGang,
  isNew,
  jobOf,
  newPodGroup,
  newWorkload,
  podGroupName,
  workloadName,
  workloadOf,
} from './gang.ts';

const gang: Partial<JobSpec> = { completionMode: 'Indexed', parallelism: 3, completions: 3 };
const template = (podGroupName?: string): JobSpec['template'] => ({
  spec: { containers: [], ...(podGroupName !== undefined && { schedulingGroup: { podGroupName } }) },
});
const uid = '0b1e4c9e-0b1c-4a57-8f0a-8b7d5c1c0001';
const owner = frozen(job({ name: 'train', namespace: 'team', metadata: { uid }, spec: gang }));

describe('isGang', () => {
  const rows = [
    { name: 'is true if all pods run at once', spec: gang, expected: true },
    { name: 'needs more than one pod', spec: { ...gang, parallelism: 1, completions: 1 }, expected: false },
    { name: 'needs indexes', spec: { ...gang, completionMode: 'NonIndexed' }, expected: false },
    { name: 'is false if some pods wait for others', spec: { ...gang, completions: 4 }, expected: false },
    { name: 'is false if fewer pods are needed', spec: { ...gang, completions: 2 }, expected: false },
    { name: 'leaves a group of the user alone', spec: { ...gang, template: template('mine') }, expected: false },
    { name: 'takes a template without a group', spec: { ...gang, template: template() }, expected: true },
  ];
  for (const { name, spec, expected } of rows) {
    test(name, () => expect(isGang(frozen(job({ spec })))).toBe(expected));
  }

  test('is false for a Job that is being deleted', () => {
    expect(isGang(frozen(job({ spec: gang, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })))).toBe(false);
  });
});

describe('isNew', () => {
  const suspended = { type: 'Suspended', status: 'False' };
  const rows: readonly { name: string; status: JobStatus; pods: number; expected: boolean }[] = [
    { name: 'is true without pods and status', status: {}, pods: 0, expected: true },
    { name: 'is false with a pod', status: {}, pods: 1, expected: false },
    { name: 'is false after the start', status: { startTime: '2026-01-01T00:00:00Z' }, pods: 0, expected: false },
    { name: 'is false after a success', status: { succeeded: 1 }, pods: 0, expected: false },
    { name: 'is false after a failure', status: { failed: 1 }, pods: 0, expected: false },
    { name: 'is false if it was ever suspended', status: { conditions: [suspended] }, pods: 0, expected: false },
  ];
  for (const { name, status, pods, expected } of rows) {
    test(name, () => {
      const members = Array.from({ length: pods }, () => frozen(jobPod(owner)));
      expect(isNew(frozen(job({ status })), members)).toBe(expected);
    });
  }
});

const made = newWorkload(owner);
const workload = (fields: Partial<Workload> = {}): Workload => ({
  ...build<Workload>(Workloads, { name: 'train-x', namespace: 'team', metadata: { uid: 'w' } }, { spec: made.spec }),
  ...fields,
});
const controlled = frozen({ ...workload(), metadata: { ...workload().metadata, ...ownedBy() } });
function ownedBy() {
  return { ownerReferences: made.metadata.ownerReferences };
}

describe('the new objects', () => {
  test('a Workload for all pods of the Job', () => {
    expect(made).toEqual({
      apiVersion: 'scheduling.k8s.io/v1alpha2',
      kind: 'Workload',
      metadata: {
        name: 'train-58c8d7dd88',
        namespace: 'team',
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid, controller: true, blockOwnerDeletion: true },
        ],
      },
      spec: {
        controllerRef: { apiGroup: 'batch', kind: 'Job', name: 'train' },
        podGroupTemplates: [{ name: 'train-pgt-0', schedulingPolicy: { gang: { minCount: 3 } } }],
      },
    });
    expect(jobOf(controlled)).toBe('team/train');
  });

  test('a PodGroup from its template', () => {
    const group = newPodGroup(owner, controlled);
    expect(group.metadata.ownerReferences?.slice(1)).toEqual([
      { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: 'Workload', name: 'train-x', uid: 'w' },
    ]);
    expect(group.spec).toEqual({
      podGroupTemplateRef: { workload: { workloadName: 'train-x', podGroupTemplateName: 'train-pgt-0' } },
      schedulingPolicy: { gang: { minCount: 3 } },
    });
    const stored = build<PodGroup>(PodGroups, { namespace: 'team' }, { spec: group.spec });
    expect(workloadOf(frozen(stored))).toBe('team/train-x');
  });

  test('a Workload of another kind of owner belongs to no Job', () => {
    for (const controllerRef of [
      undefined,
      { apiGroup: 'apps', kind: 'Job', name: 'x' },
      { apiGroup: 'batch', kind: 'Job', name: '' },
    ]) {
      const spec = { podGroupTemplates: [], controllerRef } as unknown as Workload['spec'];
      expect(jobOf(frozen(workload({ spec })))).toBeUndefined();
    }
  });
});

describe('the names', () => {
  test('are those of the Go binary', () => {
    expect(workloadName(frozen(job({ name: 'x', metadata: { uid: 'x' } })))).toBe('x-56b945d94f');
    expect(podGroupName('train-58c8d7dd88', 'train-pgt-0')).toBe('train-58c8d7dd88-train-pgt-0-866d8c79b');
  });

  test('are never too long', () => {
    const long = 'l'.repeat(253);
    expect(workloadName(frozen(job({ name: long, metadata: { uid } }))).length).toBe(253);
    expect(podGroupName(long, 'short')).toMatch(/^l{235,}-short-/);
    expect(podGroupName('short', long)).toMatch(/^short-l{235,}-/);
    for (const name of [podGroupName(long, long), podGroupName(long, 'short'), podGroupName('short', long)]) {
      expect(name.length).toBe(253);
    }
  });
});

describe('the choice', () => {
  const stranger = frozen(workload());
  const divided = frozen({ ...controlled, spec: { ...made.spec, podGroupTemplates: [] } });
  const rows = [
    { name: 'creates a Workload for a new Job', found: [], pods: 0, expected: 'create' },
    { name: 'creates none for a Job that has started', found: [], pods: 1, expected: 'none' },
    { name: 'uses the Workload of the Job', found: [controlled], pods: 1, expected: 'use' },
    { name: 'leaves the Workload of another owner alone', found: [stranger], pods: 0, expected: 'none' },
    { name: 'leaves a Workload of several groups alone', found: [divided], pods: 0, expected: 'none' },
    { name: 'does not choose between two', found: [controlled, stranger], pods: 0, expected: 'none' },
  ];
  for (const { name, found, pods, expected } of rows) {
    test(name, () => {
      const members = Array.from({ length: pods }, () => frozen(jobPod(owner)));
      expect(chooseWorkload(owner, members, found).kind).toBe(expected);
    });
  }

  const group = (ownerReferences?: PodGroup['metadata']['ownerReferences']) =>
    frozen(
      build<PodGroup>(PodGroups, { metadata: { ownerReferences } }, { spec: newPodGroup(owner, controlled).spec }),
    );
  test.each([
    { name: 'creates a PodGroup', found: [], expected: 'create' },
    { name: 'uses the one of the Job', found: [group(made.metadata.ownerReferences)], expected: 'use' },
    { name: 'leaves that of another owner alone', found: [group()], expected: 'none' },
    { name: 'does not choose between two', found: [group(made.metadata.ownerReferences), group()], expected: 'none' },
  ])('$name', ({ found, expected }) => expect(choosePodGroup(owner, found).kind).toBe(expected));
});
