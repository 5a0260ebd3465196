import { describe, expect, test } from 'vitest';

import { EndpointSlices, Nodes, objectKey, Pods, Services } from '../../pkg/api/index.ts';
import { ConnectionError } from '../../pkg/client/index.ts';
import { node, pod, runningStatus, service } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createEndpointSliceController } from './endpoint-slices.ts';

const signal = new AbortController().signal;
const options = { workers: 1, batchPeriodMs: 0, maxPerSlice: 100 };
const podAt = (index: number) =>
  pod({
    name: `web-${index}`,
    labels: { app: 'web' },
    spec: { nodeName: 'node' },
    status: runningStatus({ podIP: `10.0.0.${index}`, podIPs: [{ ip: `10.0.0.${index}` }] }),
  });

function prepare(): TestContext {
  const test = createTestContext();
  test.server.seed(Nodes, node({ name: 'node' }));
  test.server.seed(Services, service({ name: 'web' }));
  test.server.seed(Pods, podAt(1));
  return test;
}

async function stateOf({ server }: TestContext): Promise<(string | undefined)[][]> {
  const { items } = await server.listAll(EndpointSlices, {}, signal);
  return items.map(({ endpoints }) => (endpoints ?? []).map(({ targetRef }) => targetRef?.name));
}

async function syncsOf({ context }: TestContext): Promise<Record<string, number>> {
  const text = await context.metrics.getSingleMetricAsString('endpoint_slice_controller_syncs');
  return Object.fromEntries(
    [...text.matchAll(/result="(\w+)"\} (\d+)/g)].map(([, result, count]) => [result, Number(count)]),
  );
}

describe('the EndpointSlice controller', () => {
  test('does not sync after its own writes', async () => {
    const context = prepare();
    await whileRunning(context, createEndpointSliceController(context.context, options), async () => {
      await context.clock.advance(5000);
      await settle();
      expect(await stateOf(context)).toEqual([['web-1']]);
      expect(context.client.writes.map(({ verb }) => verb)).toEqual(['create']);
      expect(await syncsOf(context)).toEqual({ success: 1, stale: 0, error: 0 });
    });
  });

  test('reverts changes by other clients', async () => {
    const context = prepare();
    await whileRunning(context, createEndpointSliceController(context.context, options), async () => {
      const { items } = await context.server.listAll(EndpointSlices, {}, signal);
      const key = objectKey('default', items[0]?.metadata.name ?? '');
      await context.server.delete(EndpointSlices, key, {}, signal);
      await settle();
      await context.clock.advance(1000);
      await settle();
      expect(await stateOf(context)).toEqual([['web-1']]);
    });
  });

  const failures = [
    { name: 'a conflict', error: apiError(409, 'Conflict') },
    { name: 'an overloaded API server', error: apiError(500, 'InternalError') },
    { name: 'a deleted slice', error: apiError(404, 'NotFound') },
  ];
  for (const { name, error } of failures) {
    test(`recovers after ${name}`, async () => {
      const context = prepare();
      let refusals = 2;
      context.client.before('update', () => {
        if (refusals > 0) {
          refusals -= 1;
          throw error;
        }
      });
      await whileRunning(context, createEndpointSliceController(context.context, options), async () => {
        context.server.seed(Pods, podAt(2));
        for (let second = 0; second < 5; second += 1) {
          await settle();
          await context.clock.advance(1000);
        }
        await settle();
        expect(await stateOf(context)).toEqual([['web-1', 'web-2']]);
        expect(await syncsOf(context)).toMatchObject({ error: 2 });
      });
    });
  }

  test('creates no second slice if the answer to the first create was lost', async () => {
    const context = prepare();
    const stop = context.client.after('create', () => {
      stop();
      throw new ConnectionError('lost', { mayHaveBeenSent: true });
    });
    await whileRunning(context, createEndpointSliceController(context.context, options), async () => {
      await context.clock.advance(10_000);
      await settle();
      expect(await stateOf(context)).toEqual([['web-1']]);
    });
  });

  test('reports no error in a terminating namespace', async () => {
    const context = prepare();
    context.client.before('create', () => {
      throw apiError(403, 'Forbidden', 'going', { causes: ['NamespaceTerminating'], namespace: 'default' });
    });
    await whileRunning(context, createEndpointSliceController(context.context, options), async () => {
      await context.clock.advance(60_000);
      await settle();
      expect(context.client.writes).toHaveLength(1);
    });
  });
});
