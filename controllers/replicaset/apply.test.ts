import { describe, expect, test } from 'vitest';

import { keyOf, objectKey, Pods, ReplicaSets, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import { PendingWrites } from '../../pkg/controller/index.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { frozen, pod, replicaSet } from '../../test/support/builders.ts';
import { applyScaling, applyStatus } from './apply.ts';

const owner = frozen(replicaSet({ name: 'web', spec: { replicas: 5 } }));
const ownerKey = keyOf(owner);
const { signal } = new AbortController();

function setUp() {
  const client = new RecordingClient();
  const cached = new Map<string, Pod>();
  let seen = false;
  const store = { get: (key: string) => cached.get(key), hasSeen: () => seen };
  const pending = new PendingWrites<Pod>({ kind: Pods, store }, { monotonic: () => 0 });
  const inTerminatingNamespace = new Map<ObjectKey, string>();
  const control = { client, recorder: { event: () => undefined }, ownerKind: ReplicaSets };
  return {
    client,
    cached,
    pending,
    inTerminatingNamespace,
    deps: { control, pending, inTerminatingNamespace },
    see: () => (seen = true),
  };
}

describe('applyScaling', () => {
  test('waits until the cache has observed the created pods', async () => {
    const { client, pending, deps, see } = setUp();
    expect(await applyScaling({ kind: 'create', count: 3 }, owner, deps, signal)).toBeUndefined();
    expect(client.stored(Pods)).toHaveLength(3);
    expect(pending.isSettled(ownerKey)).toBe(false);
    see();
    expect(pending.isSettled(ownerKey)).toBe(true);
  });

  test('skips the remaining pods after an error, and returns the message of the API server', async () => {
    const { client, deps } = setUp();
    client.before('create', () => {
      throw apiError(403, 'Forbidden', 'exceeded quota');
    });
    const failure = await applyScaling({ kind: 'create', count: 100 }, owner, deps, signal);
    expect(failure?.message).toBe('exceeded quota');
    expect(client.writes).toHaveLength(1);
  });

  test('reports no error in a terminating namespace', async () => {
    const { client, inTerminatingNamespace, deps } = setUp();
    client.before('create', () => {
      throw apiError(403, 'Forbidden', 'going', { causes: ['NamespaceTerminating'] });
    });
    expect(await applyScaling({ kind: 'create', count: 2 }, owner, deps, signal)).toBeUndefined();
    expect([...inTerminatingNamespace]).toEqual([[keyOf(owner), owner.metadata.uid]]);
  });

  test('tries to delete every pod, and returns the first error', async () => {
    const { client, deps } = setUp();
    const pods = ['a', 'b', 'c'].map((name) => client.seed(Pods, pod({ name })));
    client.before('delete', ({ key }) => {
      if (key === objectKey('default', 'a')) throw apiError(500, 'InternalError', 'no');
    });
    const failure = await applyScaling({ kind: 'delete', pods }, owner, deps, signal);
    expect(failure?.message).toBe('unable to delete pods: no');
    expect(client.stored(Pods).map(({ metadata }) => metadata.name)).toEqual(['a']);
  });

  test('waits until the cache has dropped a pod that the server does not have', async () => {
    const { client, cached, pending, deps, see } = setUp();
    const gone = pod({ name: 'gone' });
    cached.set(keyOf(gone), gone);
    see();
    expect(await applyScaling({ kind: 'delete', pods: [gone] }, owner, deps, signal)).toBeUndefined();
    expect(client.writes).toHaveLength(1);
    expect(pending.isSettled(ownerKey)).toBe(false);
    cached.clear();
    expect(pending.isSettled(ownerKey)).toBe(true);
  });
});

describe('applyStatus', () => {
  const status = { replicas: 1, observedGeneration: 1 };

  test('retries once on the live object after a conflict', async () => {
    const { client } = setUp();
    client.seed(ReplicaSets, replicaSet({ name: 'web', spec: { replicas: 9 } }));
    let conflicts = 1;
    client.before('update', () => {
      if (conflicts-- > 0) throw apiError(409, 'Conflict');
    });
    expect(await applyStatus({ client, ownerKind: ReplicaSets }, owner, status, signal)).toBeDefined();
    const [stored] = client.stored(ReplicaSets);
    expect(stored).toMatchObject({ spec: { replicas: 9 }, status });
  });

  test('writes nothing to another object of the same name', async () => {
    const { client } = setUp();
    client.seed(ReplicaSets, replicaSet({ name: 'web', metadata: { uid: 'another' } }));
    client.before('update', () => {
      throw apiError(409, 'Conflict');
    });
    expect(await applyStatus({ client, ownerKind: ReplicaSets }, owner, status, signal)).toBeUndefined();
    expect(client.writes).toHaveLength(1);
  });

  test('ignores an owner that is gone', async () => {
    const { client } = setUp();
    expect(await applyStatus({ client, ownerKind: ReplicaSets }, owner, status, signal)).toBeUndefined();
  });
});
