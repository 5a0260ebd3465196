import {
  Deployments,
  findCondition,
  isConditionTrue,
  keyOf,
  objectKey,
  Pods,
  Services,
  isBeingDeleted,
  type Deployment,
  type Pod,
  type Service,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isAlreadyExists, type Client } from '../../pkg/client/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { Output } from './output.ts';

export interface SceneDeps {
  readonly client: Client;
  readonly output: Output;
  readonly clock: Clock;
}

const namespace = 'default';
const labels = { app: 'hello' };
const key = objectKey(namespace, 'hello');
const selection = { namespace, labelSelector: 'app=hello' };
/** Time to read between two steps. */
const pauseMs = 1200;

const deployment: Unsaved<Deployment> = {
  metadata: { namespace, name: 'hello', labels },
  spec: {
    replicas: 3,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'hello', image: 'example.com/hello:1', ports: [{ containerPort: 8080 }] }] },
    },
  },
};

const service: Unsaved<Service> = {
  metadata: { namespace, name: 'hello', labels },
  spec: { type: 'LoadBalancer', selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
};

/** The demo: creates a Deployment, deletes one of its pods, rolls out a new version, and prints what happens. */
export async function playScene({ client, output, clock }: SceneDeps, signal: AbortSignal): Promise<void> {
  const startedMs = clock.monotonic();
  const tell = (text: string): void => output.event(clock.monotonic() - startedMs, text);
  const pause = (): Promise<void> => clock.sleep(pauseMs, signal);
  try {
    await client.create(Deployments, deployment, signal);
    await client.create(Services, service, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    output.line('The sample Deployment "hello" exists from an earlier run. Nothing was changed.');
    return;
  }
  const watching = new AbortController();
  const told = tellOfPods(client, tell, AbortSignal.any([signal, watching.signal]));
  try {
    output.heading('A Deployment "hello" of three pods, and a load balancer in front of it:');
    await untilRolledOut(client, signal);
    tell(`Service hello  has the address ${await untilAddress(client, signal)}`);
    await pause();
    output.heading('One pod is killed, and replaced:');
    await killOne(client, tell, signal);
    await untilRolledOut(client, signal);
    await pause();
    output.heading('Version 2 is rolled out, a pod at a time:');
    const image = { spec: { template: { spec: { containers: [{ name: 'hello', image: 'example.com/hello:2' }] } } } };
    await client.patch(Deployments, key, { type: 'strategic', body: image }, signal);
    await untilRolledOut(client, signal);
    await untilPods(client, ({ size }) => size === 3, signal);
    await pause();
  } finally {
    watching.abort();
    await told;
  }
  output.heading('The demo is over. The cluster keeps running; try:');
  for (const command of [
    'kubectl get deployments,pods,services',
    'kubectl scale deployment hello --replicas=5',
    'kubectl rollout undo deployment hello',
    'kubectl delete pod -l app=hello --wait=false; kubectl get pods -w',
    'kubectl annotate node node-2 hollow-node/machine=gone; kubectl get nodes -w',
  ]) {
    output.command(command);
  }
  output.line('');
}

async function killOne(client: Client, tell: (text: string) => void, signal: AbortSignal): Promise<void> {
  const { items } = await client.list(Pods, selection, signal);
  const [victim] = items.filter(({ metadata }) => !isBeingDeleted(metadata));
  if (victim === undefined) return;
  const { name, uid } = victim.metadata;
  tell(`kill ${name}`);
  await client.delete(Pods, keyOf(victim), {}, signal);
  // Right after the delete, the status may still count three pods. Wait until one of them is new.
  await untilPods(client, (uids) => !uids.has(uid) && uids.size === items.length, signal);
}

/** Waits until the set of pods meets a condition. */
async function untilPods(
  client: Client,
  isEnough: (uids: ReadonlySet<string>) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const { items, metadata } = await client.list(Pods, selection, signal);
  const uids = new Set(items.map((item) => item.metadata.uid));
  if (isEnough(uids)) return;
  const { resourceVersion } = metadata;
  for await (const event of client.watch(Pods, { ...selection, resourceVersion }, signal)) {
    if (event.type === 'ADDED') uids.add(event.object.metadata.uid);
    if (event.type === 'DELETED') uids.delete(event.object.metadata.uid);
    if (isEnough(uids)) return;
  }
}

/** The address that the cloud gave the Service. */
async function untilAddress(client: Client, signal: AbortSignal): Promise<string> {
  for await (const event of client.watch(Services, { namespace, fieldSelector: 'metadata.name=hello' }, signal)) {
    if (event.type === 'BOOKMARK') continue;
    const address = event.object.status?.loadBalancer?.ingress?.[0]?.ip;
    if (address !== undefined) return address;
  }
  return '';
}

async function untilRolledOut(client: Client, signal: AbortSignal): Promise<void> {
  for await (const event of client.watch(Deployments, { namespace, fieldSelector: 'metadata.name=hello' }, signal)) {
    if (event.type === 'BOOKMARK') continue;
    if (isRolledOut(event.object)) return;
  }
}

function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const wanted = spec.replicas ?? 1;
  return (
    status?.observedGeneration === metadata.generation &&
    status?.updatedReplicas === wanted &&
    status.replicas === wanted &&
    status.availableReplicas === wanted &&
    findCondition(status.conditions, 'Progressing')?.reason === 'NewReplicaSetAvailable'
  );
}

/** Prints one line for each change of a pod's state. */
async function tellOfPods(client: Client, tell: (text: string) => void, signal: AbortSignal): Promise<void> {
  const last = new Map<string, string>();
  try {
    for await (const event of client.watch(Pods, selection, signal)) {
      if (event.type === 'BOOKMARK') continue;
      const { uid, name } = event.object.metadata;
      const state = event.type === 'DELETED' ? 'gone' : stateOf(event.object);
      if (last.get(uid) === state) continue;
      last.set(uid, state);
      tell(`${name}  ${state}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function stateOf({ metadata, spec, status }: Pod): string {
  if (isBeingDeleted(metadata)) return 'stopping';
  if (isConditionTrue(status?.conditions, 'Ready')) return 'ready';
  if (status?.phase === 'Running') return 'running';
  return spec.nodeName === undefined ? 'waiting for a node' : `starting on ${spec.nodeName}`;
}
