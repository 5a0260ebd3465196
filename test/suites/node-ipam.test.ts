import { afterAll, beforeAll, expect, test } from 'vitest';

import { CoreEvents, Nodes, objectKey, type Node } from '../../pkg/api/index.ts';
import { ClientBuilder, isNotFound, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startGoControllerManager } from '../cluster/index.ts';
import { eventually } from '../support/eventually.ts';
import { startManager } from '../support/manager.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'node-ipam' });
  client = clients.clientFor('node-ipam');
});
afterAll(() => clients?.close());

const flags = (...more: string[]): string[] => [
  '--controllers=node-ipam-controller',
  '--leader-elect=false',
  '--use-service-account-credentials=true',
  '--allocate-node-cidrs=true',
  ...more,
];
const key = (name: string) => objectKey(undefined, name);
const create = (name: string, signal: AbortSignal, ...podCIDRs: string[]): Promise<Node> =>
  client.create(
    Nodes,
    { metadata: { name }, spec: podCIDRs.length === 0 ? {} : { podCIDR: podCIDRs[0], podCIDRs } },
    signal,
  );

async function allRanges(signal: AbortSignal): Promise<Map<string, string>> {
  const { items } = await client.listAll(Nodes, {}, signal);
  return new Map(items.map(({ metadata, spec }) => [metadata.name, (spec.podCIDRs ?? []).join()]));
}

async function untilRanged(name: string, signal: AbortSignal): Promise<string> {
  await eventually(async () => (await allRanges(signal)).get(name) !== '', signal);
  return (await allRanges(signal)).get(name) ?? '';
}

async function remove(name: string, signal: AbortSignal): Promise<void> {
  await client.delete(Nodes, key(name), {}, signal).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

async function removeAllNodes(signal: AbortSignal): Promise<void> {
  for (const name of (await allRanges(signal)).keys()) await remove(name, signal);
}

async function eventsOf(node: string, signal: AbortSignal): Promise<Set<string>> {
  const options = { fieldSelector: `involvedObject.kind=Node,involvedObject.name=${node}` };
  const { items } = await client.listAll(CoreEvents, options, signal);
  return new Set(items.map(({ type, reason, message }) => `${type} ${reason} ${message}`));
}

/** All changes of ranges of one family. Returns the range of each node. */
async function play(prefix: string, signal: AbortSignal): Promise<Record<string, string>> {
  const of = (name: string): string => `${prefix}-${name}`;
  const had: Record<string, string> = {};
  const add = async (name: string): Promise<void> => {
    await create(of(name), signal);
    had[name] = await untilRanged(of(name), signal);
  };
  await add('a');
  await add('b');
  await remove(of('a'), signal);
  await add('c');
  await add('d');
  // Four blocks, one of them of Services: none is left.
  await create(of('late'), signal);
  const expected = `Normal CIDRNotAvailable Node ${of('late')} status is now: CIDRNotAvailable`;
  await eventually(async () => (await eventsOf(of('late'), signal)).has(expected), signal);
  had['late'] = (await allRanges(signal)).get(of('late')) ?? '';
  await remove(of('b'), signal);
  had['late after a deletion'] = await untilRanged(of('late'), signal);
  await removeAllNodes(signal);
  return had;
}

const small = ['--cluster-cidr=10.244.0.0/22', '--service-cluster-ip-range=10.244.2.0/25'];

test('nodes get, keep and release ranges as with the Go manager', async ({ signal }) => {
  await removeAllNodes(signal);
  await create('earlier', signal, '10.244.1.0/24'); // in use before a manager starts
  const manager = await startManager(cluster(), flags(...small));
  await create('ours-first', signal);
  const first = await untilRanged('ours-first', signal);
  await removeAllNodes(signal);
  const ours = await play('ours', signal);
  expect(await manager.stop()).toBe(0);

  await create('earlier', signal, '10.244.1.0/24');
  const { process } = await startGoControllerManager(cluster(), flags(...small));
  await create('go-first', signal);
  expect(first).toBe(await untilRanged('go-first', signal));
  await removeAllNodes(signal);
  const go = await play('go', signal);
  await process.stop();
  expect(ours).toEqual(go);
});

const dual = [
  '--cluster-cidr=10.244.0.0/16,fd00:10:244::/56',
  '--service-cluster-ip-range=10.96.0.0/12,fd00:10:96::/112',
  '--node-cidr-mask-size-ipv4=25',
  '--node-cidr-mask-size-ipv6=66',
];

test('both families, as with the Go manager', async ({ signal }) => {
  await removeAllNodes(signal);
  const manager = await startManager(cluster(), flags(...dual));
  const both = async (prefix: string): Promise<string[]> => {
    await create(`${prefix}-a`, signal);
    const a = await untilRanged(`${prefix}-a`, signal);
    await create(`${prefix}-b`, signal);
    return [a, await untilRanged(`${prefix}-b`, signal)];
  };
  const ours = await both('ours');
  expect(await manager.stop()).toBe(0);
  await removeAllNodes(signal);
  const { process } = await startGoControllerManager(cluster(), flags(...dual));
  expect(ours).toEqual(await both('go'));
  await process.stop();
  await removeAllNodes(signal);
});

test('leaders that are killed one after the other allocate no range twice', async ({ signal }) => {
  await removeAllNodes(signal);
  const count = 60;
  const creating = Array.from({ length: count }, (_, i) => create(`node-${i}`, signal));
  for (let killed = 0; killed < 3; killed += 1) {
    const manager = await startManager(cluster(), flags('--cluster-cidr=10.244.0.0/16'));
    await eventually(async () => {
      const ranged = [...(await allRanges(signal)).values()].filter((text) => text !== '');
      return ranged.length > killed * 10;
    }, signal);
    await manager.kill();
  }
  await Promise.all(creating);
  const last = await startManager(cluster(), flags('--cluster-cidr=10.244.0.0/16'));
  await eventually(async () => [...(await allRanges(signal)).values()].every((text) => text !== ''), signal);
  const ranges = await allRanges(signal);
  expect(ranges.size).toBe(count);
  expect(new Set(ranges.values()).size).toBe(count);
  expect(await last.stop()).toBe(0);
  await removeAllNodes(signal);
});
