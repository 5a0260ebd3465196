import { describe, expect, test } from 'vitest';

import { findCondition, Nodes, objectKey } from '../../pkg/api/index.ts';
import { parseCidr } from '../../pkg/ip/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { RecordingCloud } from '../../test/support/recording-cloud.ts';
import { createNodeRouteController } from './node-route.ts';

const { signal } = new AbortController();
const cluster = parseCidr('10.0.0.0/16') ?? expect.unreachable('a CIDR');

function setUp(): { test: TestContext; cloud: RecordingCloud } {
  const test = createTestContext({ freeze: true });
  test.server.seed(Nodes, { metadata: { name: 'a' }, spec: { podCIDRs: ['10.0.1.0/24'] } });
  return { test, cloud: new RecordingCloud() };
}

async function run(
  { test: context, cloud }: ReturnType<typeof setUp>,
  { watchBased }: { readonly watchBased: boolean },
  use: () => Promise<void>,
): Promise<void> {
  const options = {
    routes: cloud.routes,
    clusterName: 'kubernetes',
    clusterCidrs: [cluster],
    periodMs: 10_000,
    watchBased,
  };
  await whileRunning(context, createNodeRouteController(context.context, options), use);
}

function network({ server }: TestContext, name: string): string {
  const found = server.stored(Nodes).find(({ metadata }) => metadata.name === name);
  const condition = findCondition(found?.status?.conditions, 'NetworkUnavailable');
  return `${condition?.status} ${condition?.reason}`;
}

describe('node-route-controller', () => {
  test('creates routes and tells the nodes, once', async () => {
    const parts = setUp();
    await run(parts, { watchBased: false }, async () => {
      await parts.test.clock.advance(10_000);
      await settle();
      expect(parts.cloud.calls).toEqual(['list routes', 'create a 10.0.1.0/24', 'list routes']);
      expect(parts.test.client.writes).toHaveLength(1);
      expect(network(parts.test, 'a')).toBe('False RouteCreated');
    });
  });

  test('tells a node and records an event if its route cannot be created, and tries again', async () => {
    const parts = setUp();
    parts.cloud.failures.set('create', new Error('no room'));
    await run(parts, { watchBased: false }, async () => {
      expect(network(parts.test, 'a')).toBe('True NoRouteCreated');
      expect(parts.test.recorded).toEqual([
        expect.objectContaining({
          type: 'Warning',
          reason: 'FailedToCreateRoute',
          message: expect.stringMatching(/^Could not create route uid-1 10\.0\.1\.0\/24 for node a after 0s: no room$/),
        }),
      ]);
      parts.cloud.failures.clear();
      await parts.test.clock.advance(10_000);
      await settle();
      expect(network(parts.test, 'a')).toBe('False RouteCreated');
    });
  });

  test('changes nothing if the routes cannot be listed', async () => {
    const parts = setUp();
    parts.cloud.failures.set('list', new Error('down'));
    await run(parts, { watchBased: false }, async () => {
      expect(parts.cloud.calls).toEqual(['list routes']);
      expect(parts.test.client.writes).toEqual([]);
    });
  });

  test('deletes the routes of a node that is gone', async () => {
    const parts = setUp();
    await run(parts, { watchBased: false }, async () => {
      await parts.test.server.delete(Nodes, objectKey(undefined, 'a'), {}, signal);
      await settle();
      await parts.test.clock.advance(10_000);
      await settle();
      expect(parts.cloud.calls.at(-1)).toBe('remove a 10.0.1.0/24');
    });
  });

  test('with watches, follows nodes at most every ten seconds', async () => {
    const parts = setUp();
    const lists = (): number => parts.cloud.calls.filter((call) => call === 'list routes').length;
    await run(parts, { watchBased: true }, async () => {
      expect(lists()).toBe(1);
      for (const name of ['b', 'c']) parts.test.server.seed(Nodes, { metadata: { name }, spec: { podCIDRs: [] } });
      await settle();
      expect(lists()).toBe(1);
      await parts.test.clock.advance(10_000);
      await settle();
      expect(lists()).toBe(2);
      await parts.test.clock.advance(600_000);
      await settle();
      expect(lists()).toBe(2);
    });
  });
});
