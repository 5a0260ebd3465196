import { describe, expect, test } from 'vitest';

import { Nodes, objectKey, Services, type Service, type Unsaved } from '../../pkg/api/index.ts';
import { ImplementedElsewhereError, RetryAfterError } from '../../pkg/cloud/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { RecordingCloud } from '../../test/support/recording-cloud.ts';
import { createServiceLbController } from './service-lb.ts';
import { cleanupFinalizer } from './service-rules.ts';

const { signal } = new AbortController();
const key = objectKey('a', 'web');

function service(changes: Partial<Service['spec']> = {}): Unsaved<Service> {
  return {
    metadata: { namespace: 'a', name: 'web' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...changes },
  };
}

async function run(test: TestContext, cloud: RecordingCloud, use: () => Promise<void>): Promise<void> {
  const options = { balancers: cloud.loadBalancers, clusterName: 'kubernetes', workers: 1 };
  await whileRunning(test, createServiceLbController(test.context, options), use);
}

function setUp(): { test: TestContext; cloud: RecordingCloud; reasons(): string[] } {
  const test = createTestContext({ freeze: true });
  test.server.seed(Nodes, { metadata: { name: 'n1' }, spec: {} });
  return { test, cloud: new RecordingCloud(), reasons: () => test.recorded.map(({ reason }) => reason) };
}

const stored = ({ server }: TestContext): Service | undefined => server.stored(Services)[0];

describe('a Service of type LoadBalancer', () => {
  test('gets its finalizer, then a load balancer, then its address', async () => {
    const { test: context, cloud, reasons } = setUp();
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      expect(cloud.calls).toEqual(['ensure web n1']);
      expect(context.client.writes.map(({ verb, subresource }) => `${verb} ${subresource}`)).toEqual([
        'patch status',
        'patch status',
      ]);
      expect(stored(context)).toMatchObject({
        metadata: { finalizers: [cleanupFinalizer] },
        status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } },
      });
      expect(reasons()).toEqual(['EnsuringLoadBalancer', 'EnsuredLoadBalancer']);
    });
  });

  test('is not synced again because of its own status', async () => {
    const { test: context, cloud } = setUp();
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      await context.clock.advance(600_000);
      await settle();
      expect(cloud.calls).toEqual(['ensure web n1']);
    });
  });

  test('with a class is left alone', async () => {
    const { test: context, cloud } = setUp();
    context.server.seed(Services, service({ loadBalancerClass: 'other' }));
    await run(context, cloud, async () => expect(cloud.calls).toEqual([]));
  });

  test('without nodes has a load balancer that warns', async () => {
    const { test: context, cloud, reasons } = setUp();
    await context.server.delete(Nodes, objectKey(undefined, 'n1'), {}, signal);
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      expect(reasons()).toEqual(['EnsuringLoadBalancer', 'UnAvailableLoadBalancer', 'EnsuredLoadBalancer']);
    });
  });

  test('is released once its load balancer is deleted', async () => {
    const { test: context, cloud, reasons } = setUp();
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      await context.server.delete(Services, key, {}, signal);
      await settle();
      expect(cloud.calls.slice(1)).toEqual(['get web', 'delete web']);
      expect(stored(context)).toBeUndefined();
      expect(reasons().slice(2)).toEqual(['DeletingLoadBalancer', 'DeletedLoadBalancer']);
    });
  });

  test('that becomes another type loses load balancer, finalizer and address', async () => {
    const { test: context, cloud } = setUp();
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      await context.server.patch(Services, key, { type: 'merge', body: { spec: { type: 'ClusterIP' } } }, signal);
      await settle();
      expect(cloud.balancers.size).toBe(0);
      expect(stored(context)?.metadata.finalizers).toEqual([]);
      expect(stored(context)?.status?.loadBalancer?.ingress).toBeUndefined();
    });
  });

  test('whose finalizer somebody removed still loses its load balancer', async () => {
    const { test: context, cloud } = setUp();
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      await context.server.patch(Services, key, { type: 'merge', body: { metadata: { finalizers: null } } }, signal);
      await context.server.delete(Services, key, {}, signal);
      await settle();
      expect(cloud.calls.slice(1)).toEqual(['delete web']);
    });
  });
});

describe('a cloud that fails', () => {
  test('is asked again after 5 s, then after 10 s', async () => {
    const { test: context, cloud } = setUp();
    cloud.failures.set('ensure', new Error('quota exceeded'));
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      expect(context.recorded.at(-1)).toMatchObject({
        type: 'Warning',
        reason: 'SyncLoadBalancerFailed',
        message: 'Error syncing load balancer: failed to ensure load balancer: quota exceeded',
      });
      for (const [ms, calls] of [
        [4999, 1],
        [1, 2],
        [9999, 2],
        [1, 3],
      ] as const) {
        await context.clock.advance(ms);
        await settle();
        expect(cloud.calls.filter((call) => call.startsWith('ensure'))).toHaveLength(calls);
      }
    });
  });

  test('is asked again when it says so', async () => {
    const { test: context, cloud } = setUp();
    cloud.failures.set('ensure', new RetryAfterError('still being created', 1000));
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      cloud.failures.clear();
      await context.clock.advance(1000);
      await settle();
      expect(cloud.calls).toEqual(['ensure web n1', 'ensure web n1']);
      expect(stored(context)?.status?.loadBalancer?.ingress).toEqual([{ ip: '203.0.113.1' }]);
    });
  });

  test('is left alone if another controller does its work', async () => {
    const { test: context, cloud, reasons } = setUp();
    cloud.failures.set('ensure', new ImplementedElsewhereError('elsewhere'));
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      expect(reasons()).toEqual(['EnsuringLoadBalancer']);
      expect(stored(context)?.metadata.finalizers).toEqual([cleanupFinalizer]);
      expect(stored(context)?.status).toBeUndefined();
    });
  });

  test('keeps the Service until its load balancer is deleted', async () => {
    const { test: context, cloud } = setUp();
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      cloud.failures.set('delete', new Error('in use'));
      await context.server.delete(Services, key, {}, signal);
      await settle();
      expect(stored(context)?.metadata.finalizers).toEqual([cleanupFinalizer]);
      expect(context.recorded.at(-1)?.message).toBe(
        'Error syncing load balancer: failed to delete load balancer: in use',
      );
      cloud.failures.clear();
      await context.clock.advance(5000);
      await settle();
      expect(stored(context)).toBeUndefined();
    });
  });
});

describe('the nodes of load balancers', () => {
  test('follow the nodes of the cluster, but not their readiness', async () => {
    const { test: context, cloud, reasons } = setUp();
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      context.server.seed(Nodes, { metadata: { name: 'n2' }, spec: {} });
      await settle();
      const body = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
      await context.server.patch(
        Nodes,
        objectKey(undefined, 'n2'),
        { type: 'merge', subresource: 'status', body },
        signal,
      );
      await settle();
      await context.server.delete(Nodes, objectKey(undefined, 'n1'), {}, signal);
      await settle();
      expect(cloud.calls.slice(1)).toEqual(['update web n1,n2', 'update web n2']);
      expect(reasons().slice(2)).toEqual(['UpdatedLoadBalancer', 'UpdatedLoadBalancer']);
    });
  });

  test('are set by a sync of the whole Service if the cloud refuses them', async () => {
    const { test: context, cloud } = setUp();
    context.server.seed(Services, service());
    await run(context, cloud, async () => {
      cloud.failures.set('update', new Error('busy'));
      context.server.seed(Nodes, { metadata: { name: 'n2' }, spec: {} });
      await settle();
      expect(cloud.calls.slice(1)).toEqual(['update web n1,n2', 'get web', 'ensure web n1,n2']);
      expect(context.recorded.find(({ reason }) => reason === 'UpdateLoadBalancerFailed')?.message).toBe(
        'Error updating load balancer with new hosts [n1 n2] [node names limited, total number of nodes: 2], error: busy',
      );
    });
  });
});
