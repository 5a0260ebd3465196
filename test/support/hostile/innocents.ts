import { randomBytes } from 'node:crypto';
import {
  ConfigMaps,
  CronJobs,
  DaemonSets,
  Deployments,
  EndpointsKind,
  EndpointSlices,
  Jobs,
  keyOf,
  Namespaces,
  Nodes,
  objectKey,
  Pods,
  ReplicationControllers,
  Secrets,
  ServiceAccounts,
  Services,
  StatefulSets,
  formatTime,
  type ObjectKey,
  type Pod,
} from '../../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../../pkg/client/index.ts';
import { eventually } from '../eventually.ts';
import { podTemplate } from '../workload-user.ts';

/** The namespace of an innocent user. There is no kubelet: the user writes the status of pods. */
interface Place {
  readonly client: Client;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** The expectations of a user, for each controller. Each resolves when it is met. Add one with a new controller. */
const expectations: readonly ((place: Place) => Promise<void>)[] = [
  expectRollout,
  expectReplicationController,
  expectStatefulSet,
  expectDaemon,
  expectJobToFinish,
  expectCronJobToStart,
  expectToken,
  expectCollection,
  expectEviction,
];

/** Resolves when all controllers have served an ordinary user in a separate namespace, which is deleted then. */
export async function serveInnocents(client: Client, signal: AbortSignal): Promise<void> {
  const namespace = `innocent-${randomBytes(4).toString('hex')}`;
  const place = { client, namespace, signal };
  await client.create(Namespaces, { metadata: { name: namespace } }, signal);
  await eventually(() => client.get(ServiceAccounts, objectKey(namespace, 'default'), signal), signal);
  await eventually(() => client.get(ConfigMaps, objectKey(namespace, 'kube-root-ca.crt'), signal), signal);
  await Promise.all(expectations.map((expectation) => expectation(place)));
  await client.delete(Namespaces, objectKey('', namespace), {}, signal);
  await eventually(async () => {
    for (const pod of await podsIn(place)) await endPod(place, pod);
    return isGone(() => client.get(Namespaces, objectKey('', namespace), signal));
  }, signal);
}

async function expectRollout(place: Place): Promise<void> {
  const { client, namespace, signal } = place;
  const app = 'rollout';
  const metadata = { namespace, name: app };
  const nodeKey = keyOf(await client.create(Nodes, { metadata: { name: `${namespace}-ready` }, spec: {} }, signal));
  const template = podTemplate({ app });
  const spec = { containers: [], ...template.spec, nodeName: `${namespace}-ready` };
  await client.create(Services, { metadata, spec: { selector: { app }, ports: [{ port: 80 }] } }, signal);
  const deployment = { replicas: 2, selector: { matchLabels: { app } }, template: { ...template, spec } };
  await client.create(Deployments, { metadata, spec: deployment }, signal);
  await podsOf(place, app, 2);
  await eventually(async () => {
    await beAlive(place, nodeKey);
    for (const [index, pod] of (await podsOf(place, app, 2)).entries())
      await beReady(place, pod, `10.9.9.${index + 1}`);
    const { status } = await client.get(Deployments, objectKey(namespace, app), signal);
    const slices = await client.listAll(EndpointSlices, { namespace }, signal);
    const endpoints = slices.items.flatMap(({ endpoints: listed }) => listed ?? []);
    const { subsets } = await client.get(EndpointsKind, objectKey(namespace, app), signal);
    const inSlices = endpoints.filter(({ conditions }) => conditions?.ready).length;
    return status?.availableReplicas === 2 && inSlices === 2 && subsets?.[0]?.addresses?.length === 2;
  }, signal);
  await client.delete(Nodes, nodeKey, {}, signal);
}

async function beAlive({ client, signal }: Place, node: ObjectKey): Promise<void> {
  const now = formatTime(Date.now());
  const condition = { type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now };
  const body = { status: { conditions: [condition] } };
  await client.patch(Nodes, node, { type: 'strategic', body, subresource: 'status' }, signal);
}

async function beReady(place: Place, pod: Pod, podIP: string): Promise<void> {
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: formatTime(Date.now()) };
  const isReady = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  if (isReady) return;
  await setStatus(place, pod, { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions: [ready] });
}

async function expectReplicationController(place: Place): Promise<void> {
  const { client, namespace, signal } = place;
  const app = 'replication';
  const spec = { replicas: 1, selector: { app }, template: podTemplate({ app }) };
  await client.create(ReplicationControllers, { metadata: { namespace, name: app }, spec }, signal);
  await podsOf(place, app, 1);
}

/** The second pod is created once the first is ready. */
async function expectStatefulSet(place: Place): Promise<void> {
  const { client, namespace, signal } = place;
  const app = 'stateful';
  const spec = { serviceName: app, replicas: 2, selector: { matchLabels: { app } }, template: podTemplate({ app }) };
  await client.create(StatefulSets, { metadata: { namespace, name: app }, spec }, signal);
  for (const pod of await podsOf(place, app, 1)) await beReady(place, pod, '10.9.9.9');
  await podsOf(place, app, 2);
}

/** On a separate node, whatever happens to the node. */
async function expectDaemon(place: Place): Promise<void> {
  const { client, namespace, signal } = place;
  const app = 'daemon';
  const name = `${namespace}-daemon`;
  const labels = { daemon: namespace };
  const nodeKey = keyOf(await client.create(Nodes, { metadata: { name, labels }, spec: {} }, signal));
  const { metadata, spec } = podTemplate({ app });
  const pod = { containers: [], ...spec, nodeSelector: labels, tolerations: [{ operator: 'Exists' }] };
  const daemonSet = { selector: { matchLabels: { app } }, template: { metadata, spec: pod } };
  await client.create(DaemonSets, { metadata: { namespace, name: app }, spec: daemonSet }, signal);
  await podsOf(place, app, 1);
  await client.delete(Nodes, nodeKey, {}, signal);
}

/** A Job finishes and is deleted after its TTL. */
async function expectJobToFinish(place: Place): Promise<void> {
  const { client, namespace, signal } = place;
  const { metadata, spec } = podTemplate({ app: 'job' });
  const template = { metadata, spec: { containers: [], ...spec, restartPolicy: 'Never' } };
  const job = { metadata: { namespace, name: 'job' }, spec: { ttlSecondsAfterFinished: 0, template } };
  await client.create(Jobs, job, signal);
  for (const pod of await podsOf(place, 'job', 1)) await setStatus(place, pod, { phase: 'Succeeded' });
  await eventually(() => isGone(() => client.get(Jobs, objectKey(namespace, 'job'), signal)), signal);
}

async function expectCronJobToStart({ client, namespace, signal }: Place): Promise<void> {
  const { metadata, spec } = podTemplate({ app: 'cron' });
  const template = { metadata, spec: { containers: [], ...spec, restartPolicy: 'Never' } };
  const cronJob = {
    metadata: { namespace, name: 'cron' },
    spec: { schedule: '@every 1s', concurrencyPolicy: 'Forbid', jobTemplate: { spec: { template } } },
  };
  const { metadata: made } = await client.create(CronJobs, cronJob, signal);
  await eventually(async () => {
    const { items } = await client.listAll(Jobs, { namespace }, signal);
    return items.some((job) => job.metadata.ownerReferences?.some(({ uid }) => uid === made.uid));
  }, signal);
}

async function expectToken({ client, namespace, signal }: Place): Promise<void> {
  const metadata = { namespace, name: 'token', annotations: { 'kubernetes.io/service-account.name': 'default' } };
  await client.create(Secrets, { metadata, type: 'kubernetes.io/service-account-token' }, signal);
  await eventually(async () => {
    const { data } = await client.get(Secrets, objectKey(namespace, 'token'), signal);
    return data?.['token'] !== undefined;
  }, signal);
}

/** Dependents are deleted with their owner. */
async function expectCollection({ client, namespace, signal }: Place): Promise<void> {
  const owner = await client.create(ConfigMaps, { metadata: { namespace, name: 'owner' } }, signal);
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid };
  const metadata = { namespace, name: 'owned', ownerReferences: [reference] };
  const owned = await client.create(ConfigMaps, { metadata }, signal);
  await client.delete(ConfigMaps, keyOf(owner), {}, signal);
  await eventually(() => isGone(() => client.get(ConfigMaps, keyOf(owned), signal)), signal);
}

async function expectEviction({ client, namespace, signal }: Place): Promise<void> {
  const node = { metadata: { name: namespace }, spec: { taints: [{ key: 'leave', effect: 'NoExecute' }] } };
  const nodeKey = keyOf(await client.create(Nodes, node, signal));
  const metadata = { namespace, name: 'evicted' };
  const containers = [{ name: 'main', image: 'one' }];
  const pod = await client.create(Pods, { metadata, spec: { nodeName: namespace, containers } }, signal);
  await eventually(async () => {
    const { metadata: live } = await client.get(Pods, keyOf(pod), signal);
    return live.deletionTimestamp !== undefined;
  }, signal);
  await client.delete(Nodes, nodeKey, {}, signal);
}

/** As a kubelet does once the containers have stopped. */
async function endPod({ client, signal }: Place, pod: Pod): Promise<void> {
  if (pod.metadata.deletionTimestamp === undefined) return;
  await client.delete(Pods, keyOf(pod), { gracePeriodSeconds: 0 }, signal).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

async function podsIn({ client, namespace, signal }: Place): Promise<readonly Pod[]> {
  return (await client.listAll(Pods, { namespace }, signal)).items;
}

async function podsOf({ client, namespace, signal }: Place, app: string, count: number): Promise<readonly Pod[]> {
  return eventually(async () => {
    const { items } = await client.listAll(Pods, { namespace, labelSelector: `app=${app}` }, signal);
    return items.length === count && items;
  }, signal);
}

async function setStatus({ client, signal }: Place, pod: Pod, status: object): Promise<void> {
  await client.patch(Pods, keyOf(pod), { type: 'merge', body: { status }, subresource: 'status' }, signal);
}

async function isGone(get: () => Promise<unknown>): Promise<boolean> {
  try {
    await get();
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}
