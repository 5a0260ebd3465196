import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { cloudControllers } from '../../controllers/cloud.ts';
import { findCondition, Nodes, objectKey, Services, type Node } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { createHollowCloud, startHollowNodes, type HollowNodes } from '../../pkg/hollow/index.ts';
import { runManager } from '../../pkg/manager/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { startGoCloudControllers } from '../cluster/index.ts';
import { addressOf, CloudUser } from '../support/cloud-user.ts';
import { eventually } from '../support/eventually.ts';
import { RecordingLogger, silentLogger } from '../support/loggers.ts';
import { managerIdentity } from '../support/manager.ts';
import { createNamespace, useCluster } from './use-cluster.ts';

const getCluster = useCluster();
const clusterCidr = '10.128.0.0/9';
const cloud = createHollowCloud();
const logger = new RecordingLogger();
let clients: ClientBuilder;
let client: Client;

interface CloudManager {
  stop(): Promise<void>;
}

/** A cloud controller manager of the library. Its controllers have the permissions of their bootstrap roles only. */
async function startOurs(): Promise<CloudManager> {
  const end = new AbortController();
  const leading = Promise.withResolvers<void>();
  const periods = { nodeMonitorPeriodMs: 200, routeReconciliationPeriodMs: 200, nodeStatusUpdateFrequencyMs: 200 };
  const ended = runManager({
    name: 'cloud-controller-manager',
    kubeconfig: getCluster().kubeconfig(managerIdentity),
    controllers: cloudControllers(cloud, { clusterCidrs: [clusterCidr], ...periods }),
    leaderElection: { namespace: 'kube-system' },
    requests: { serviceAccountNamespace: 'kube-system' },
    server: false,
    logger,
    signal: end.signal,
    onLeading: leading.resolve,
  });
  await Promise.race([leading.promise, ended]);
  return {
    async stop() {
      end.abort();
      await ended;
    },
  };
}

async function startGo(): Promise<CloudManager> {
  const process = await startGoCloudControllers(getCluster(), [`--cluster-cidr=${clusterCidr}`]);
  return { stop: () => process.kill() };
}

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: getCluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'cloud-suite' });
  client = clients.clientFor('test');
});

afterAll(() => clients.close());

/** Nodes that a cloud must describe, for as long as a `describe` runs. */
function useUndescribedNodes(namePrefix: string): void {
  const stop = new AbortController();
  let hollow: HollowNodes;
  beforeAll(async () => {
    const options = { client: clients.clientFor('hollow-nodes'), clock: systemClock, logger: silentLogger, nodes: 4 };
    hollow = await startHollowNodes({ ...options, namePrefix, externalCloud: true }, stop.signal);
  });
  afterAll(async () => {
    stop.abort();
    await hollow.stopped;
    await client.deleteCollection(Nodes, {}, new AbortController().signal);
  });
}

const network = ({ status }: Node) => findCondition(status?.conditions, 'NetworkUnavailable');
const isTainted = ({ spec }: Node): boolean =>
  (spec.taints ?? []).some(
    ({ key, effect }) => key === 'node.cloudprovider.kubernetes.io/shutdown' && effect === 'NoSchedule',
  );

/** All that users can see of the controllers. */
function describeBehaviour(who: string): void {
  test('nodes are described by the cloud, and then accept pods', async ({ signal }) => {
    const user = new CloudUser(client, signal);
    const name = `${who}-0`;
    const node = await user.nodeWhen(name, ({ spec }) => spec.providerID !== undefined);
    expect(node.spec.providerID).toBe(`hollow://${name}`);
    // The taint of new nodes is the task of the node lifecycle controller, which does not run here.
    expect((node.spec.taints ?? []).map(({ key }) => key)).toEqual(['node.kubernetes.io/not-ready']);
    expect(node.metadata.labels).toEqual({
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'node.kubernetes.io/instance-type': 'hollow.large',
      'beta.kubernetes.io/instance-type': 'hollow.large',
      'topology.kubernetes.io/region': 'hollow',
      'failure-domain.beta.kubernetes.io/region': 'hollow',
      'topology.kubernetes.io/zone': 'zone-a',
      'failure-domain.beta.kubernetes.io/zone': 'zone-a',
    });
    expect(await user.eventsUntil('Synced', { namespace: 'default', kind: 'Node', name })).toEqual([
      'cloud-node-controller Normal Synced: Node synced successfully',
    ]);
  });

  test('nodes have routes to their pod CIDRs, and say so', async ({ signal }) => {
    const user = new CloudUser(client, signal);
    await user.patchNode(`${who}-3`, { spec: { podCIDR: '10.128.7.0/24', podCIDRs: ['10.128.7.0/24'] } });
    const node = await user.nodeWhen(`${who}-3`, (each) => network(each) !== undefined);
    expect(network(node)).toMatchObject({
      status: 'False',
      reason: 'RouteCreated',
      message: 'RouteController created a route',
    });
  });

  test('nodes are tainted while their machine is off', async ({ signal }) => {
    const user = new CloudUser(client, signal);
    await user.switchMachine(`${who}-2`, 'off');
    await user.nodeWhen(`${who}-2`, isTainted);
    await user.switchMachine(`${who}-2`, null);
    const node = await user.nodeWhen(`${who}-2`, (each) => !isTainted(each));
    expect(findCondition(node.status?.conditions, 'Ready')?.status).toBe('True');
  });

  test('nodes go with their machine', async ({ signal }) => {
    const user = new CloudUser(client, signal);
    const name = `${who}-3`;
    await user.switchMachine(name, 'gone');
    await user.untilGone(Nodes, objectKey(undefined, name));
    const events = await user.eventsUntil('DeletingNode', { namespace: 'default', kind: 'Node', name });
    expect(events.at(-1)).toBe(
      `cloud-node-lifecycle-controller Normal DeletingNode: Deleting node ${name} because it does not exist in the cloud provider`,
    );
  });

  test('a Service gets an address, and stays until its load balancer is deleted', async ({ signal }) => {
    const user = new CloudUser(client, signal);
    const namespace = await createNamespace(getCluster());
    const about = { namespace, kind: 'Service', name: 'web' };
    const key = await user.createService(namespace);
    const service = await user.serviceWhen(key, (each) => addressOf(each) !== undefined);
    expect(addressOf(service)).toMatch(/^203\.0\.113\.\d+$/);
    expect(service.status?.loadBalancer?.ingress?.[0]?.ipMode).toBe('VIP');
    expect(service.metadata.finalizers).toEqual(['service.kubernetes.io/load-balancer-cleanup']);
    expect(await user.eventsUntil('EnsuredLoadBalancer', about)).toEqual([
      'service-controller Normal EnsuringLoadBalancer: Ensuring load balancer',
      'service-controller Normal EnsuredLoadBalancer: Ensured load balancer',
    ]);
    await user.deleteService(key);
    await user.untilGone(Services, key);
    expect((await user.eventsUntil('DeletedLoadBalancer', about)).slice(2)).toEqual([
      'service-controller Normal DeletingLoadBalancer: Deleting load balancer',
      'service-controller Normal DeletedLoadBalancer: Deleted load balancer',
    ]);
  });

  test('a Service that becomes a ClusterIP loses address and finalizer', async ({ signal }) => {
    const user = new CloudUser(client, signal);
    const key = await user.createService(await createNamespace(getCluster()));
    await user.serviceWhen(key, (each) => addressOf(each) !== undefined);
    await user.patchService(key, { spec: { type: 'ClusterIP' } });
    const isFree = ({ metadata }: { metadata: { finalizers?: string[] | undefined } }): boolean =>
      (metadata.finalizers ?? []).length === 0;
    const service = await user.serviceWhen(key, (each) => isFree(each) && addressOf(each) === undefined);
    expect(service.spec.type).toBe('ClusterIP');
  });

  test('an event tells when the nodes of a load balancer change', async ({ signal }) => {
    const user = new CloudUser(client, signal);
    const namespace = await createNamespace(getCluster());
    const key = await user.createService(namespace);
    await user.serviceWhen(key, (each) => addressOf(each) !== undefined);
    const label = (value: string | null) =>
      user.patchNode(`${who}-1`, {
        metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': value } },
      });
    await label('true');
    const events = await user.eventsUntil('UpdatedLoadBalancer', { namespace, kind: 'Service', name: 'web' });
    expect(events.at(-1)).toBe('service-controller Normal UpdatedLoadBalancer: Updated load balancer with new hosts');
    await label(null);
    await user.deleteService(key);
    await user.untilGone(Services, key);
  });
}

describe('with the controllers of Kubernetes', () => {
  useUndescribedNodes('go');
  let manager: CloudManager;
  beforeAll(async () => {
    manager = await startGo();
  });
  afterAll(() => manager.stop());
  describeBehaviour('go');
});

describe('with ours', () => {
  useUndescribedNodes('ours');
  let manager: CloudManager;
  beforeAll(async () => {
    manager = await startOurs();
  });
  afterAll(() => manager.stop());
  describeBehaviour('ours');

  test('the routes of a node go with it', async ({ signal }) => {
    await eventually(async () => (await cloud.routes.list('kubernetes', signal)).length === 0, signal);
    expect(await new CloudUser(client, signal).exists(Nodes, objectKey(undefined, 'ours-3'))).toBe(false);
  });

  test('a load balancer has the nodes that do not ask to be left out', async ({ signal }) => {
    const user = new CloudUser(client, signal);
    const key = await user.createService(await createNamespace(getCluster()));
    const backends = () => cloud.backendsOf(key)?.join();
    await expect.poll(backends).toBe('ours-0,ours-1,ours-2');
    const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' };
    await user.patchNode('ours-1', { metadata: { labels } });
    await expect.poll(backends).toBe('ours-0,ours-2');
  });

  test('a Service that is deleted while nobody runs is released by the next leader', async ({ signal }) => {
    const user = new CloudUser(client, signal);
    const key = await user.createService(await createNamespace(getCluster()));
    await user.serviceWhen(key, (each) => addressOf(each) !== undefined);
    await manager.stop();
    await user.deleteService(key);
    expect(await user.exists(Services, key)).toBe(true);
    expect(cloud.backendsOf(key)).toBeDefined();
    manager = await startOurs();
    await user.untilGone(Services, key);
    expect(cloud.backendsOf(key)).toBeUndefined();
  });

  test('every controller may do what it does', () => {
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
