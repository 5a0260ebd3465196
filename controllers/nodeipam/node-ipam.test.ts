import { describe, expect, test } from 'vitest';

import { Nodes, objectKey, type Node, type Unsaved } from '../../pkg/api/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createNodeIpamController } from './node-ipam.ts';
import { readRangeSettings, type RangeFlags } from './settings.ts';

const { signal } = new AbortController();
const flags: RangeFlags = {
  'allocate-node-cidrs': true,
  'cluster-cidr': '10.0.0.0/22',
  'service-cluster-ip-range': '',
  'node-cidr-mask-size': 0,
  'node-cidr-mask-size-ipv4': 0,
  'node-cidr-mask-size-ipv6': 0,
};
const node = (name: string, ...podCIDRs: string[]): Unsaved<Node> => ({
  metadata: { name },
  spec: podCIDRs.length === 0 ? {} : { podCIDR: podCIDRs[0], podCIDRs },
});

function run(context: TestContext, given: Partial<RangeFlags>, use: () => Promise<void>): Promise<void> {
  const settings = readRangeSettings({ ...flags, ...given });
  if (settings === undefined) throw new Error('node CIDRs are not allocated');
  return whileRunning(context, createNodeIpamController(context.context, settings), use);
}

/** The pod CIDRs of all nodes that have some. */
function ranges({ server }: TestContext): Record<string, string> {
  const all = server.stored(Nodes).map(({ metadata, spec }) => [metadata.name, (spec.podCIDRs ?? []).join()] as const);
  return Object.fromEntries(all.filter(([, text]) => text !== ''));
}

describe('node-ipam-controller', () => {
  test('allocates a range to each node and keeps those in use', async () => {
    const context = createTestContext();
    context.server.seed(Nodes, node('old', '10.0.0.0/24'));
    context.server.seed(Nodes, node('a'));
    await run(context, {}, async () => {
      context.server.seed(Nodes, node('b'));
      await settle();
      expect(ranges(context)).toEqual({ old: '10.0.0.0/24', a: '10.0.1.0/24', b: '10.0.2.0/24' });
    });
  });

  test('allocates a range of both families, in the order of the flag', async () => {
    const context = createTestContext();
    context.server.seed(Nodes, node('a'));
    await run(context, { 'cluster-cidr': 'fd00::/56,10.0.0.0/22' }, async () => {
      expect(ranges(context)).toEqual({ a: 'fd00::/64,10.0.0.0/24' });
    });
  });

  test('allocates no range of Services', async () => {
    const context = createTestContext();
    context.server.seed(Nodes, node('a'));
    await run(context, { 'service-cluster-ip-range': '10.0.0.0/23' }, async () => {
      expect(ranges(context)).toEqual({ a: '10.0.2.0/24' });
    });
  });

  test('a node without a range gets that of a deleted node', async () => {
    const context = createTestContext();
    const events: string[] = [];
    const recorderFor = () => ({
      event: (_kind: unknown, _object: unknown, event: { message: string }) => void events.push(event.message),
    });
    const recording = { ...context, context: { ...context.context, recorderFor } };
    context.server.seed(Nodes, node('a', '10.0.0.0/24'));
    context.server.seed(Nodes, node('b'));
    await run(recording, { 'cluster-cidr': '10.0.0.0/24' }, async () => {
      expect(ranges(context)).toEqual({ a: '10.0.0.0/24' });
      expect(new Set(events)).toEqual(new Set(['Node b status is now: CIDRNotAvailable']));
      await context.server.delete(Nodes, objectKey(undefined, 'a'), {}, signal);
      await settle();
      expect(ranges(context)).toEqual({ b: '10.0.0.0/24' });
    });
  });

  test('a write whose outcome is unknown is repeated with the same range', async () => {
    const context = createTestContext();
    context.server.seed(Nodes, node('a'));
    const stop = context.client.before('patch', () => {
      stop();
      throw apiError(504, 'Timeout');
    });
    await run(context, {}, async () => {
      context.server.seed(Nodes, node('b'));
      await context.clock.advance(1000);
      await settle();
      expect(ranges(context)).toEqual({ a: '10.0.0.0/24', b: '10.0.1.0/24' });
    });
  });

  test('a range that is only in the live list is not allocated', async () => {
    const context = createTestContext();
    context.server.seed(Nodes, node('a'));
    // The cache is stale: the live list has the range that the previous leader allocated to a node.
    const hidden = { ...node('b', '10.0.0.0/24'), metadata: { name: 'b', uid: 'b', resourceVersion: '1' } };
    const { listAll } = context.client;
    context.client.listAll = async (kind, options, until) => {
      const list = await listAll.call(context.client, kind, options, until);
      return { ...list, metadata: { resourceVersion: '999' }, items: [...list.items, hidden] } as never;
    };
    await run(context, {}, async () => expect(ranges(context)).toEqual({ a: '10.0.1.0/24' }));
  });

  test('a recreated node gets another range while the old one is released', async () => {
    const context = createTestContext();
    context.server.seed(Nodes, node('a'));
    await run(context, {}, async () => {
      await context.server.delete(Nodes, objectKey(undefined, 'a'), {}, signal);
      context.server.seed(Nodes, node('a'));
      await settle();
      expect(ranges(context)).toEqual({ a: '10.0.1.0/24' });
    });
  });

  test('a range outside of the cluster CIDR stops nothing', async () => {
    const context = createTestContext();
    context.server.seed(Nodes, node('far', '192.168.0.0/24'));
    context.server.seed(Nodes, node('odd', 'not a range'));
    context.server.seed(Nodes, node('a'));
    await run(context, {}, async () => expect(ranges(context)).toMatchObject({ a: '10.0.0.0/24' }));
  });

  test('5,000 nodes at once get 5,000 ranges', async () => {
    const context = createTestContext();
    for (let i = 0; i < 5000; i += 1) context.server.seed(Nodes, node(`node-${i}`));
    await run(context, { 'cluster-cidr': '10.0.0.0/8' }, async () => {
      await expect.poll(() => Object.keys(ranges(context)).length).toBe(5000);
      expect(new Set(Object.values(ranges(context))).size).toBe(5000);
    });
  });
});
