import { describe, expect, test } from 'vitest';

import {
  keyOf,
  splitKey,
  type Cached,
  type Kind,
  type ObjectKey,
  type OwnerReference,
  type Pod,
} from '../../pkg/api/index.ts';
import type { Discovery } from '../../pkg/client/index.ts';
import { disruptionBudget, frozen, pod } from '../../test/support/builders.ts';
import { createTestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { scaleCaches } from './cached-scales.ts';
import { takeSnapshot } from './snapshot.ts';

const gatherings: Kind = {
  group: 'example.com',
  version: 'v1',
  kind: 'Gathering',
  resource: 'gatherings',
  namespaced: true,
};
const jobs: Kind = { group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs', namespaced: true };
const kinds = [gatherings, jobs];
const discovery: Pick<Discovery, 'kindFor' | 'preferred'> = {
  kindFor: async (_version, name) => kinds.find(({ kind }) => kind === name),
  preferred: async () => ({
    resources: kinds.map((kind) => ({ kind, verbs: new Set<string>() })),
    failures: new Map<string, string>(),
  }),
};
const served: Readonly<Record<string, object[]>> = {
  '/apis/batch/v1': [{ name: 'jobs', kind: 'Job' }],
  '/apis/example.com/v1': [{ name: 'gatherings/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' }],
};

/** A pod of a controller of its own, which has the pod's name. */
function podOf({ kind, group, version }: Kind, name: string): Pod {
  const reference: OwnerReference = { apiVersion: `${group}/${version}`, kind, name, uid: name, controller: true };
  return pod({ name, metadata: { ownerReferences: [reference] } });
}
const manyOf = (kind: Kind, prefix: string, count: number): Pod[] =>
  Array.from({ length: count }, (_, index) => podOf(kind, `${prefix}-${String(index).padStart(3, '0')}`));

/** The requests of one sync; `gone`: the controllers that are deleted. */
async function take(pods: readonly Pod[], gone: (name: string) => boolean = () => false) {
  const requests: string[] = [];
  let [running, most] = [0, 0];
  const budget = frozen(disruptionBudget({ spec: { maxUnavailable: 1 } }));
  const { informers, clock } = createTestContext();
  const client = {
    async getScale({ resource }: Kind, key: ObjectKey) {
      const { name } = splitKey(key);
      requests.push(`${resource} ${name}`);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      if (resource === 'jobs' || gone(name)) throw apiError(404, 'NotFound');
      return { metadata: { name, uid: name }, spec: { replicas: 2 } };
    },
    async request({ path }: { readonly path: string }) {
      requests.push(path);
      return { resources: served[path] };
    },
  };
  const deps = {
    client,
    discovery: discovery as Discovery,
    clock,
    budgets: { get: () => budget },
    podsOf: (): readonly Cached<Pod>[] => frozen([...pods]),
    caches: scaleCaches(informers),
  };
  const snapshot = await takeSnapshot(keyOf(budget), deps, new AbortController().signal);
  return { requests, most, scales: snapshot?.scales };
}

describe('takeSnapshot', () => {
  test('stops at the first controller whose kind has no scale', async () => {
    const { requests } = await take(manyOf(jobs, 'job', 200).toReversed());
    expect(requests).toEqual(['jobs job-000', '/apis/batch/v1']);
  });

  test('reads the scales of many controllers, a few at once', async () => {
    const { requests, most, scales } = await take(manyOf(gatherings, 'all', 200));
    expect(requests).toHaveLength(200);
    expect(most).toBeLessThanOrEqual(10);
    expect([...(scales?.values() ?? [])].filter(({ kind }) => kind === 'found')).toHaveLength(200);
  });

  test('reads all scales before the first failure, and few after it', async () => {
    const pods = [...manyOf(gatherings, 'a', 30), ...manyOf(jobs, 'b', 100)];
    const { requests, scales } = await take(pods);
    expect([...(scales?.values() ?? [])].filter(({ kind }) => kind === 'found')).toHaveLength(30);
    expect(requests.filter((request) => request.startsWith('jobs')).length).toBeLessThanOrEqual(10);
    expect(requests.filter((request) => request === '/apis/batch/v1')).toHaveLength(1); // once for the kind
  });

  test('stops at a deleted controller too', async () => {
    const { requests, scales } = await take(manyOf(gatherings, 'all', 50), (name) => name === 'all-000');
    expect(requests).toEqual(['gatherings all-000', '/apis/example.com/v1']);
    expect([...(scales ?? [])]).toEqual([['all-000', { kind: 'absent' }]]);
  });
});
