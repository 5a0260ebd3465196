import { describe, expect, test } from 'vitest';

import { Deployments, keyOf, ReplicaSets, type Deployment, type ReplicaSet } from '../../pkg/api/index.ts';
import { PendingWrites } from '../../pkg/controller/index.ts';
import { apiError, RecordingClient } from '../../test/support/recording-client.ts';
import { deployment, frozen, replicaSet } from '../../test/support/builders.ts';
import { applyActions } from './apply.ts';
import type { Action, Snapshot } from './plan.ts';
import { planSync } from './sync.ts';

const { signal } = new AbortController();

function setUp(owner: Deployment = deployment({ name: 'web' })) {
  const client = new RecordingClient();
  const seeded = client.seed(Deployments, owner);
  const events: string[] = [];
  const recorder = {
    event: (_kind: unknown, _about: unknown, event: { reason: string; message: string }) =>
      void events.push(`${event.reason}: ${event.message}`),
  };
  const unseen = { get: () => undefined, hasSeen: () => false };
  const clock = { monotonic: () => 0 };
  const pendingSets = new PendingWrites<ReplicaSet>({ kind: ReplicaSets, store: unseen }, clock);
  const pendingDeployments = new PendingWrites<Deployment>({ kind: Deployments, store: unseen }, clock);
  const snapshot: Snapshot = {
    deployment: frozen(seeded),
    replicaSets: [],
    setsWithUnfinishedPods: new Set(),
    countTerminating: true,
    nowMs: 0,
  };
  const deps = { client, recorder, pendingSets, pendingDeployments };
  const apply = (actions: readonly Action[]): Promise<boolean> => applyActions(actions, snapshot, deps, signal);
  const plan = planSync(snapshot);
  const [create] = plan.actions;
  if (create?.kind !== 'createReplicaSet') throw new Error('unexpected plan');
  return { client, events, pendingSets, owner: seeded, plan, wanted: create.replicaSet, apply };
}

const statusOf = (client: RecordingClient): Deployment['status'] => client.stored(Deployments)[0]?.status;

describe('applyActions', () => {
  test('creates the ReplicaSet, writes the status, and waits until the cache has observed both', async () => {
    const { client, events, plan, apply, pendingSets, owner } = setUp();
    expect(await apply(plan.actions)).toBe(true);
    expect(client.stored(ReplicaSets)).toHaveLength(1);
    expect(statusOf(client)?.conditions).toMatchObject([{ reason: 'NewReplicaSetCreated' }, { type: 'Available' }]);
    expect(events).toHaveLength(1);
    expect(pendingSets.isSettled(keyOf(owner))).toBe(false);
  });

  test('plans again if the ReplicaSet exists, from a create whose answer was lost', async () => {
    const { client, events, plan, apply, wanted, pendingSets, owner } = setUp();
    client.seed(ReplicaSets, wanted);
    expect(await apply(plan.actions)).toBe(false);
    expect(client.stored(ReplicaSets)).toHaveLength(1);
    expect(statusOf(client)).not.toHaveProperty('collisionCount');
    expect(events).toEqual([]);
    expect(pendingSets.isSettled(keyOf(owner))).toBe(false);
  });

  const collisions = [
    { name: 'another owner', described: { owner: { kind: Deployments, object: deployment({ name: 'other' }) } } },
    { name: 'no owner', described: {} },
  ];
  for (const { name, described } of collisions) {
    test(`uses another name if a ReplicaSet with ${name} has it`, async () => {
      const { client, plan, apply, wanted } = setUp();
      client.seed(ReplicaSets, { ...replicaSet({ ...described, name: wanted.metadata.name }), spec: wanted.spec });
      expect(await apply(plan.actions)).toBe(false);
      expect(statusOf(client)).toMatchObject({ collisionCount: 1 });
    });
  }

  test('uses another name if its own ReplicaSet with another template has it', async () => {
    const { client, plan, apply, wanted, owner } = setUp();
    const { metadata } = replicaSet({ name: wanted.metadata.name, owner: { kind: Deployments, object: owner } });
    client.seed(ReplicaSets, {
      ...replicaSet(),
      metadata,
      spec: { ...wanted.spec, template: { spec: { containers: [] } } },
    });
    expect(await apply(plan.actions)).toBe(false);
    expect(statusOf(client)).toMatchObject({ collisionCount: 1 });
  });

  test('uses another name the next time', () => {
    const first = setUp();
    const second = setUp(deployment({ name: 'web', status: { collisionCount: 1 } }));
    expect(second.wanted.metadata.name).not.toBe(first.wanted.metadata.name);
  });

  const refuse = (client: RecordingClient): void => {
    client.before('create', () => {
      throw apiError(403, 'Forbidden', 'exceeded quota');
    });
  };

  test('sets a condition if the ReplicaSet could not be created', async () => {
    const { client, events, plan, apply, wanted } = setUp();
    refuse(client);
    await expect(apply(plan.actions)).rejects.toThrow('exceeded quota');
    const message = `Failed to create new replica set "${wanted.metadata.name}": exceeded quota`;
    expect(statusOf(client)?.conditions).toMatchObject([
      { type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError', message },
    ]);
    expect(events).toEqual([`ReplicaSetCreateError: ${message}`]);
  });

  test('does not write the same condition twice', async () => {
    const failed = { type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError' };
    const { client, plan, apply } = setUp(deployment({ name: 'web', status: { conditions: [failed] } }));
    refuse(client);
    await expect(apply(plan.actions)).rejects.toThrow('exceeded quota');
    expect(client.writes.map(({ verb }) => verb)).toEqual(['create']);
  });

  test('sets no condition in a terminating namespace', async () => {
    const { client, events, plan, apply } = setUp();
    client.before('create', () => {
      throw apiError(403, 'Forbidden', 'going', { causes: ['NamespaceTerminating'] });
    });
    await expect(apply(plan.actions)).rejects.toThrow('going');
    expect(client.writes).toHaveLength(1);
    expect(events).toEqual([]);
  });

  test('deletes by uid, and ignores a ReplicaSet that is gone', async () => {
    const { client, apply } = setUp();
    const { metadata } = client.seed(ReplicaSets, replicaSet({ name: 'old' }));
    const deletion: Action = { kind: 'deleteReplicaSet', key: keyOf({ metadata }), uid: metadata.uid };
    expect(await apply([deletion])).toBe(true);
    expect(client.writes).toMatchObject([{ verb: 'delete', body: { preconditions: { uid: metadata.uid } } }]);
    expect(await apply([deletion])).toBe(true);
  });
});
