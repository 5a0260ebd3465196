import { describe, expect, test } from 'vitest';

import { Deployments, keyOf, objectKey, Pods, ReplicaSets, type Deployment } from '../../pkg/api/index.ts';
import { container, deployment, pod, replicaSet } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { CountingInformers } from '../../test/support/counting-informers.ts';
import { createDeploymentController } from './deployment.ts';

function run(test: TestContext, use: () => Promise<void>): Promise<void> {
  return whileRunning(test, createDeploymentController(test.context, 1), use);
}

const { signal } = new AbortController();
const labels = (
  app: string,
): { selector: { matchLabels: { app: string } }; template: Deployment['spec']['template'] } => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [container()] } },
});

describe('the deployment controller', () => {
  test('adopts a ReplicaSet with its labels, and recognizes it by its template', async () => {
    const context = createTestContext();
    context.server.seed(ReplicaSets, replicaSet({ name: 'orphan', labels: { app: 'web' }, spec: labels('web') }));
    const owner = context.server.seed(Deployments, deployment({ name: 'web', spec: labels('web') }));
    await run(context, settle);
    const [adopted, ...others] = context.server.stored(ReplicaSets);
    expect(others).toEqual([]);
    expect(adopted?.metadata.ownerReferences).toMatchObject([{ uid: owner.metadata.uid, controller: true }]);
    expect(adopted?.metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '1' });
  });

  test('releases a ReplicaSet that it does not select any more', async () => {
    const context = createTestContext();
    const owner = context.server.seed(Deployments, deployment({ name: 'web', spec: labels('web') }));
    const held = { name: 'held', labels: { app: 'other' }, owner: { kind: Deployments, object: owner } };
    context.server.seed(ReplicaSets, replicaSet(held));
    await run(context, settle);
    const released = context.server.stored(ReplicaSets).find(({ metadata }) => metadata.name === 'held');
    expect(released?.metadata.ownerReferences ?? []).toEqual([]);
  });

  test('adopts nothing for a Deployment that selects everything', async () => {
    const context = createTestContext();
    context.server.seed(ReplicaSets, replicaSet({ name: 'orphan', labels: { app: 'web' } }));
    context.server.seed(Deployments, deployment({ name: 'all', spec: { selector: {} } }));
    await run(context, settle);
    expect(context.client.writes).toMatchObject([
      { verb: 'update', resource: 'deployments.apps', subresource: 'status' },
    ]);
  });

  test('does nothing for a Deployment with an invalid selector', async () => {
    const context = createTestContext();
    const selector = { matchExpressions: [{ key: 'app', operator: 'Roughly' }] };
    context.server.seed(Deployments, deployment({ spec: { selector } }));
    await run(context, settle);
    expect(context.client.writes).toEqual([]);
  });

  test('continues a Recreate rollout when the last old pod is gone', async () => {
    const context = createTestContext();
    const { server } = context;
    const owner = server.seed(
      Deployments,
      deployment({ name: 'web', spec: { ...labels('web'), strategy: { type: 'Recreate' } } }),
    );
    const retired = server.seed(
      ReplicaSets,
      replicaSet({
        name: 'old',
        labels: { app: 'web' },
        owner: { kind: Deployments, object: owner },
        spec: { ...labels('web'), replicas: 0, template: { spec: { containers: [container({ image: 'old' })] } } },
      }),
    );
    const last = server.seed(Pods, pod({ name: 'last', owner: { kind: ReplicaSets, object: retired } }));
    await run(context, async () => {
      expect(server.stored(ReplicaSets)).toHaveLength(1);
      await server.delete(Pods, keyOf(last), {}, signal);
      await settle();
      expect(server.stored(ReplicaSets)).toHaveLength(2);
    });
  });

  /** The number of objects that are read when one Deployment among others is rolled out. */
  async function costAmong(others: number): Promise<number> {
    const base = createTestContext();
    const informers = new CountingInformers(base.context.informers);
    const context = { ...base, context: { ...base.context, informers } };
    const { server } = base;
    for (let index = 0; index < others; index++) {
      const owner = server.seed(Deployments, deployment({ name: `other-${index}`, spec: labels(`other-${index}`) }));
      const set = { name: `set-${index}`, labels: { app: `other-${index}` } };
      server.seed(
        ReplicaSets,
        replicaSet({ ...set, owner: { kind: Deployments, object: owner }, spec: labels(`other-${index}`) }),
      );
      server.seed(ReplicaSets, replicaSet({ name: `orphan-${index}`, labels: { app: `orphan-${index}` } }));
      server.seed(Pods, pod({ name: `pod-${index}`, labels: { app: `orphan-${index}` } }));
    }
    server.seed(Deployments, deployment({ name: 'web', spec: labels('web') }));
    await run(context, async () => {
      for (let turn = 0; turn < others; turn++) await settle();
      informers.count = 0;
      const body = { spec: { template: { spec: { containers: [container({ image: 'new' })] } } } };
      await server.patch(Deployments, objectKey('default', 'web'), { type: 'merge', body }, signal);
      await settle();
      expect(server.stored(ReplicaSets)).toHaveLength(2 * others + 2);
    });
    return informers.count;
  }

  test('reads only its own objects, however many others share its namespace', async () => {
    expect(await costAmong(40)).toBe(await costAmong(4));
  });
});
