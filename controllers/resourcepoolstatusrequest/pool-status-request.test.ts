import { expect, test } from 'vitest';

import { ResourcePoolStatusRequests, ResourceSlices, type Kind } from '../../pkg/api/index.ts';
import { build } from '../../test/support/builders.ts';
import { resourceSlice } from '../../test/support/claim-builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { gateOf } from '../../test/support/lagging-watch.ts';
import { createPoolStatusController } from './pool-status-request.ts';

const request = (name: string, creationTimestamp?: string) =>
  build(
    ResourcePoolStatusRequests,
    { name, metadata: creationTimestamp === undefined ? {} : { creationTimestamp } },
    { spec: { driver: 'example.com' } },
  );

async function onStage(
  served: readonly Kind[],
  seed: (stage: TestContext) => void,
  play: (stage: TestContext) => Promise<void>,
): Promise<void> {
  const stage = createTestContext({ freeze: true });
  seed(stage);
  const discovery = {
    refresh: async () => undefined,
    all: async () => ({ resources: served.map((kind) => ({ kind })), failures: new Map() }),
  } as unknown as TestContext['context']['discovery'];
  await whileRunning(stage, createPoolStatusController({ ...stage.context, discovery }), () => play(stage));
}

const names = ({ server }: TestContext): string[] =>
  server.stored(ResourcePoolStatusRequests).map(({ metadata }) => metadata.name);

test('a request is answered once', async () => {
  const seed = ({ server }: TestContext): void => {
    server.seed(ResourceSlices, resourceSlice('slice', { 'gpu-0': [], 'gpu-1': [] }));
    server.seed(ResourcePoolStatusRequests, request('r'));
  };
  await onStage([ResourcePoolStatusRequests], seed, async (stage) => {
    const { server, client } = stage;
    const [answered] = server.stored(ResourcePoolStatusRequests);
    expect(answered?.status).toMatchObject({ poolCount: 1, pools: [{ totalDevices: 2 }] });
    server.seed(ResourceSlices, resourceSlice('newer', {}, 2));
    await settle();
    expect(client.writes.map(({ verb, subresource }) => [verb, subresource])).toEqual([['update', 'status']]);
    const series = 'resourcepoolstatusrequest_controller_requests_processed_total{driver_name="example.com"} 1';
    expect(await stage.context.metrics.metrics()).toContain(series);
  });
});

test('a request waits for slices that the cache lacks', async () => {
  const gates: ReturnType<typeof gateOf>[] = [];
  await onStage(
    [ResourcePoolStatusRequests],
    (stage) => gates.push(gateOf(ResourceSlices, stage)),
    async (stage) => {
      const { server, client, clock } = stage;
      gates.forEach((gate) => gate.hold());
      server.seed(ResourceSlices, resourceSlice('slice', { 'gpu-0': [] }));
      server.seed(ResourcePoolStatusRequests, request('r'));
      await settle();
      await clock.advance(1000);
      await settle();
      expect(client.writes).toEqual([]);
      gates.forEach((gate) => gate.open());
      await settle();
      expect(server.stored(ResourcePoolStatusRequests)[0]?.status?.pools).toMatchObject([{ totalDevices: 1 }]);
    },
  );
});

test('a request about a driver without slices is answered', async () => {
  const seed = ({ server }: TestContext): void => void server.seed(ResourcePoolStatusRequests, request('r'));
  await onStage([ResourcePoolStatusRequests], seed, async ({ server }) => {
    expect(server.stored(ResourcePoolStatusRequests)[0]?.status?.poolCount).toBe(0);
  });
});

test('a request waits for all slices of a pool', async () => {
  const incomplete = resourceSlice('first', { 'gpu-0': [] });
  incomplete.spec.pool.resourceSliceCount = 2;
  const seed = ({ server }: TestContext): void => {
    server.seed(ResourceSlices, incomplete);
    server.seed(ResourcePoolStatusRequests, request('r'));
  };
  await onStage([ResourcePoolStatusRequests], seed, async ({ server, client }) => {
    expect(client.writes).toEqual([]);
    const second = resourceSlice('second', { 'gpu-1': [] });
    second.spec.pool.resourceSliceCount = 2;
    server.seed(ResourceSlices, second);
    await settle();
    expect(server.stored(ResourcePoolStatusRequests)[0]?.status?.pools).toMatchObject([{ totalDevices: 2 }]);
  });
});

test('old requests are deleted, at the start and every ten minutes', async () => {
  const seed = ({ server }: TestContext): void => {
    server.seed(ResourcePoolStatusRequests, request('old', '2025-12-30T00:00:00Z'));
    server.seed(ResourcePoolStatusRequests, request('new', '2026-01-01T00:00:00Z'));
  };
  await onStage([ResourcePoolStatusRequests], seed, async (stage) => {
    expect(names(stage)).toEqual(['new']);
    for (let minutes = 0; minutes < 80; minutes += 10) await stage.clock.advance(600_000);
    await settle();
    expect(names(stage)).toEqual([]); // it was answered more than an hour ago
  });
});

test('nothing is done on a server without the API', async () => {
  await onStage(
    [],
    ({ server }) => server.seed(ResourcePoolStatusRequests, request('r')),
    async ({ client }) => expect(client.writes).toEqual([]),
  );
});
