import { describe, expect, test } from 'vitest';

import { keyOf, objectKey, Pods, ReplicaSets, ReplicationControllers, type ReplicaSet } from '../../pkg/api/index.ts';
import { pod, replicaSet, replicationController, runningStatus } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { CountingInformers } from '../../test/support/counting-informers.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { replicaSetKind, replicationControllerKind } from './replica-kinds.ts';
import { createReplicaController } from './replicas.ts';

function run(test: TestContext, use: () => Promise<void>): Promise<void> {
  return whileRunning(test, createReplicaController(test.context, replicaSetKind, 1), use);
}

const { signal } = new AbortController();
const labels = { app: 'web' };
const three = replicaSet({ name: 'web', spec: { replicas: 3 } });
const only = (sets: readonly ReplicaSet[]): ReplicaSet['status'] => sets[0]?.status;

describe('the replicaset controller', () => {
  test('creates the missing pods and writes the status', async () => {
    const context = createTestContext();
    context.server.seed(ReplicaSets, three);
    await run(context, async () => {
      await context.clock.advance(200);
      await settle();
      expect(context.server.stored(Pods)).toHaveLength(3);
      expect(only(context.server.stored(ReplicaSets))).toMatchObject({ replicas: 3, observedGeneration: 1 });
    });
    expect(context.client.writes.filter(({ verb }) => verb === 'create')).toHaveLength(3);
  });

  test('does nothing for a terminating ReplicaSet', async () => {
    const context = createTestContext();
    const metadata = { ...three.metadata, deletionTimestamp: three.metadata.creationTimestamp, finalizers: ['x'] };
    context.server.seed(ReplicaSets, { ...three, metadata });
    context.server.seed(Pods, pod({ name: 'orphan', labels }));
    await run(context, settle);
    expect(context.client.writes.map(({ verb }) => verb)).toEqual(['update']);
  });

  test('adopts nothing for a ReplicaSet that was recreated', async () => {
    const context = createTestContext();
    context.server.seed(ReplicaSets, three);
    context.server.seed(Pods, pod({ name: 'orphan', labels, status: runningStatus() }));
    context.client.before('get', () => {
      throw apiError(404, 'NotFound');
    });
    await run(context, settle);
    expect(context.client.writes).toEqual([]);
  });

  test('reads the live owner once before it adopts several pods', async () => {
    const context = createTestContext();
    const owner = context.server.seed(ReplicaSets, three);
    for (const name of ['a', 'b', 'c']) context.server.seed(Pods, pod({ name, labels, status: runningStatus() }));
    await run(context, settle);
    expect(context.client.actions.filter(({ verb }) => verb === 'get')).toHaveLength(1);
    for (const { metadata } of context.server.stored(Pods)) {
      expect(metadata.ownerReferences).toMatchObject([{ uid: owner.metadata.uid, controller: true }]);
    }
  });

  test('does nothing for a ReplicaSet with an invalid selector', async () => {
    const context = createTestContext();
    const selector = { matchExpressions: [{ key: 'app', operator: 'Roughly' }] };
    context.server.seed(ReplicaSets, replicaSet({ spec: { selector } }));
    await run(context, settle);
    expect(context.client.writes).toEqual([]);
  });

  test('runs the pods of a ReplicationController by the same rules', async () => {
    const context = createTestContext();
    context.server.seed(ReplicationControllers, replicationController({ name: 'old', spec: { replicas: 2 } }));
    const controller = createReplicaController(context.context, replicationControllerKind, 1);
    await whileRunning(context, controller, async () => {
      await context.clock.advance(200);
      await settle();
      const [owner] = context.server.stored(ReplicationControllers);
      expect(owner?.status).toMatchObject({ replicas: 2, terminatingReplicas: undefined });
      const references = context.server.stored(Pods).map(({ metadata }) => metadata.ownerReferences?.[0]);
      expect(references).toMatchObject([
        { apiVersion: 'v1', kind: 'ReplicationController' },
        { uid: owner?.metadata.uid },
      ]);
    });
  });

  /** The number of objects that are read when one ReplicaSet among others is scaled. */
  async function costAmong(others: number): Promise<number> {
    const base = createTestContext();
    const informers = new CountingInformers(base.context.informers);
    const context = { ...base, context: { ...base.context, informers } };
    const { server } = base;
    for (let index = 0; index < others; index++) {
      const app = { app: `other-${index}` };
      const spec = { replicas: 1, selector: { matchLabels: app }, template: { metadata: { labels: app } } };
      const owner = server.seed(ReplicaSets, replicaSet({ name: `other-${index}`, spec }));
      server.seed(Pods, pod({ name: `owned-${index}`, labels: app, owner: { kind: ReplicaSets, object: owner } }));
      server.seed(Pods, pod({ name: `alone-${index}`, labels: { app: `alone-${index}` } }));
    }
    const web = server.seed(ReplicaSets, replicaSet({ name: 'web', spec: { replicas: 0 } }));
    await run(context, async () => {
      for (let turn = 0; turn < 10; turn++) {
        await base.clock.advance(1000);
        await settle();
      }
      informers.count = 0;
      await server.patch(ReplicaSets, keyOf(web), { type: 'merge', body: { spec: { replicas: 2 } } }, signal);
      await settle();
      expect(server.stored(Pods)).toHaveLength(2 * others + 2);
    });
    return informers.count;
  }

  test('reads only its own pods, however many others share its namespace', async () => {
    expect(await costAmong(60)).toBe(await costAmong(6));
  });

  test('keeps no state for a recreated ReplicaSet', async () => {
    const context = createTestContext();
    context.server.seed(ReplicaSets, three);
    await run(context, async () => {
      await context.server.delete(ReplicaSets, objectKey('default', 'web'), {}, signal);
      for (const { metadata } of context.server.stored(Pods)) {
        await context.server.delete(Pods, keyOf({ metadata }), {}, signal);
      }
      const { metadata, spec } = replicaSet({ name: 'web', spec: { replicas: 1 } });
      await context.server.create(
        ReplicaSets,
        { metadata: { name: metadata.name, namespace: 'default' }, spec },
        signal,
      );
      await settle();
      expect(context.server.stored(Pods)).toHaveLength(1);
    });
  });
});
