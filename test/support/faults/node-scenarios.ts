import { Nodes, objectKey, Pods, type Node, type Pod, type Toleration } from '../../../pkg/api/index.ts';
import { eventually, watchUntil } from '../eventually.ts';
import { hasTaint, isTerminating, readyStatus } from '../node-user.ts';
import type { FaultScenario, FaultStage } from './scenario.ts';

const everything: Toleration[] = [{ operator: 'Exists' }];

/** A node of this trial only, in its own zone, with a fresh heartbeat. Returns its name. */
export async function createNode(
  { client, namespace, signal }: FaultStage,
  ready: string,
  taints: object[] = [],
): Promise<string> {
  const name = `${namespace}-node`;
  const metadata = { name, labels: { 'topology.kubernetes.io/zone': namespace } };
  await client.create(Nodes, { metadata, spec: { taints } as Node['spec'] }, signal);
  await report({ client, signal }, name, ready);
  return name;
}

async function report(
  { client, signal }: Pick<FaultStage, 'client' | 'signal'>,
  name: string,
  ready: string,
): Promise<void> {
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = { type: 'Ready', status: ready, lastHeartbeatTime: now, lastTransitionTime: now };
  const body = { status: { conditions: [condition] } };
  await client.patch(Nodes, objectKey(undefined, name), { type: 'strategic', subresource: 'status', body }, signal);
}

async function createPod(stage: FaultStage, name: string, spec: Partial<Pod['spec']>): Promise<void> {
  const { client, namespace, signal } = stage;
  const containers = [{ name: 'main', image: 'example' }];
  await client.create(Pods, { metadata: { namespace, name }, spec: { containers, ...spec } }, signal);
  if (spec.nodeName === undefined) return;
  const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
  await client.patch(Pods, objectKey(namespace, name), { type: 'merge', subresource: 'status', body }, signal);
}

async function nodeWhen(
  { client, signal }: FaultStage,
  name: string,
  isWanted: (node: Node) => boolean,
): Promise<void> {
  await eventually(async () => {
    const node = await client.get(Nodes, objectKey(undefined, name), signal);
    if (!isWanted(node)) throw new Error(`node ${name} has taints ${JSON.stringify(node.spec.taints)}`);
  }, signal);
}

/** A node stops its heartbeats. */
const nodeLifecycle: FaultScenario = {
  controller: 'node-lifecycle-controller',
  flags: () => [
    '--node-monitor-period=100ms',
    '--node-monitor-grace-period=1500ms',
    '--node-startup-grace-period=1500ms',
    '--node-eviction-rate=100',
  ],
  kinds: [Nodes, Pods],
  // Two loops add taints, in any order. The message depends on what was observed of the node before a restart.
  ignore: ['Node:spec.taints*'],
  async act(stage) {
    const name = await createNode(stage, 'True');
    await createPod(stage, 'web', { nodeName: name, tolerations: everything });
    await nodeWhen(stage, name, (node) => !hasTaint(node, 'not-ready', 'NoSchedule'));
    await nodeWhen(stage, name, (node) =>
      ['NoSchedule', 'NoExecute'].every(
        (effect) => hasTaint(node, 'unreachable', effect) && !hasTaint(node, 'not-ready', effect),
      ),
    );
    const { client, namespace, signal } = stage;
    await watchUntil(client, Pods, { namespace }, (pod) => readyStatus(pod) === 'False', signal);
  },
};

/** A taint that one pod tolerates and another does not. */
const taintEviction: FaultScenario = {
  controller: 'taint-eviction-controller',
  kinds: [Nodes, Pods],
  async act(stage) {
    const { client, namespace, signal } = stage;
    const name = await createNode(stage, 'True');
    await createPod(stage, 'stays', { nodeName: name, tolerations: everything });
    await createPod(stage, 'goes', { nodeName: name });
    const body = { spec: { taints: [{ key: 'example.com/maintenance', effect: 'NoExecute' }] } };
    await client.patch(Nodes, objectKey(undefined, name), { type: 'merge', body }, signal);
    await watchUntil(client, Pods, { namespace, fieldSelector: 'metadata.name=goes' }, isTerminating, signal);
  },
};

/** A pod that no kubelet can stop any more. A finalizer keeps it, so that its state can be compared. */
const podGarbageCollector: FaultScenario = {
  controller: 'pod-garbage-collector-controller',
  kinds: [Nodes, Pods],
  looksAtStart: true,
  async act(stage) {
    const { client, namespace, signal } = stage;
    const outOfService = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };
    const name = await createNode(stage, 'False', [outOfService]);
    await createPod(stage, 'kept', { nodeName: name, tolerations: everything });
    await createPod(stage, 'stuck', { nodeName: name, tolerations: everything });
    const body = { metadata: { finalizers: ['example.com/keep'] } };
    await client.patch(Pods, objectKey(namespace, 'kept'), { type: 'merge', body }, signal);
    for (const pod of ['kept', 'stuck']) await client.delete(Pods, objectKey(namespace, pod), {}, signal);
  },
};

const nodeTtl: FaultScenario = {
  controller: 'ttl-controller',
  kinds: [Nodes],
  async act(stage) {
    const { client, signal } = stage;
    const name = await createNode(stage, 'True');
    const key = objectKey(undefined, name);
    const annotation = 'node.alpha.kubernetes.io/ttl';
    const isAnnotated = async (): Promise<boolean> =>
      (await client.get(Nodes, key, signal)).metadata.annotations?.[annotation] === '0';
    await eventually(isAnnotated, signal);
    await client.patch(
      Nodes,
      key,
      { type: 'merge', body: { metadata: { annotations: { [annotation]: '77' } } } },
      signal,
    );
    await eventually(isAnnotated, signal);
  },
};

/** Two nodes are added and one is deleted. Their ranges depend on other nodes, but must be different. */
const nodeIpam: FaultScenario = {
  controller: 'node-ipam-controller',
  flags: () => ['--allocate-node-cidrs=true', '--cluster-cidr=10.244.0.0/16'],
  kinds: [Nodes],
  ignore: ['Node:spec.podCIDR*'],
  async act(stage) {
    const { client, namespace, signal } = stage;
    const name = await createNode(stage, 'True');
    await client.create(Nodes, { metadata: { name: `${namespace}-second` }, spec: {} }, signal);
    await client.create(Nodes, { metadata: { name: `${namespace}-third` }, spec: {} }, signal);
    await client.delete(Nodes, objectKey(undefined, `${namespace}-third`), {}, signal);
    await eventually(async () => {
      const { items } = await client.listAll(Nodes, {}, signal);
      const ranges = items.flatMap(({ spec }) => spec.podCIDRs ?? []);
      if (new Set(ranges).size < ranges.length) throw new Error(`a range was allocated twice: ${ranges.join()}`);
      const own = items.filter(({ metadata }) => [name, `${namespace}-second`].includes(metadata.name));
      return own.length === 2 && own.every(({ spec }) => (spec.podCIDRs ?? []).length === 1);
    }, signal);
  },
};

export const nodeScenarios: readonly FaultScenario[] = [
  nodeLifecycle,
  nodeIpam,
  taintEviction,
  podGarbageCollector,
  nodeTtl,
];
