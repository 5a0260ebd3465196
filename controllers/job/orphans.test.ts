import { describe, expect, test } from 'vitest';

import { keyOf, ReplicaSets, type Cached, type Job, type Pod } from '../../pkg/api/index.ts';
import { frozen, job, pod, replicaSet } from '../../test/support/builders.ts';
import { jobPod, trackingFinalizer } from '../../test/support/job-pods.ts';
import { isOrphan } from './orphans.ts';

const owner = frozen(job());
const finished = frozen(job({ status: { conditions: [{ type: 'Complete', status: 'True' }] } }));
const external = frozen(
  job({ spec: { managedBy: 'example.com/other' }, status: { conditions: [{ type: 'Complete', status: 'True' }] } }),
);
const recreated = frozen(job({ metadata: { uid: 'another' } }));
const bare = (described: Parameters<typeof pod>[0] = {}): Cached<Pod> =>
  frozen(pod({ ...described, metadata: { finalizers: [trackingFinalizer], ...described.metadata } }));
const ofSet = bare({ owner: { kind: ReplicaSets, object: replicaSet() } });

const rows: { name: string; pod: Cached<Pod>; job?: Cached<Job>; expected: boolean }[] = [
  { name: 'without the finalizer is no orphan', pod: jobPod(owner, { tracked: false }), expected: false },
  { name: 'without a controller is an orphan', pod: bare(), expected: true },
  { name: 'of another kind of controller is no orphan', pod: ofSet, expected: false },
  { name: 'of a running Job is no orphan', pod: jobPod(owner), job: owner, expected: false },
  { name: 'of a deleted Job is an orphan', pod: jobPod(owner), expected: true },
  { name: 'of a recreated Job is an orphan', pod: jobPod(owner), job: recreated, expected: true },
  { name: 'of a finished Job is an orphan', pod: jobPod(owner), job: finished, expected: true },
  { name: 'of an externally managed Job is no orphan', pod: jobPod(owner), job: external, expected: false },
];

describe('a tracked pod', () => {
  for (const { name, pod: described, job: known, expected } of rows) {
    test(name, () => {
      const jobs = { get: (key: string) => (known !== undefined && keyOf(known) === key ? known : undefined) };
      expect(isOrphan(described, jobs)).toBe(expected);
    });
  }
});
