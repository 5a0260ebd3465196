import { z } from 'zod';

import {
  DaemonSets,
  Deployments,
  formatMicroTime,
  formatTime,
  isBeingDeleted,
  keyOf,
  Leases,
  Nodes,
  objectKey,
  Pods,
  ReplicaSets,
  resourceName,
  StatefulSets,
  controllerOf,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { TryAction } from '../../pkg/loop/index.ts';
import type { Sandbox } from '../../pkg/sandbox/index.ts';
import type { Clock } from '../../pkg/time/index.ts';

export interface TryDeps {
  readonly client: Client;
  readonly sandbox: Pick<Sandbox, 'endWatches' | 'delayRequests'>;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Something to try, and what it does. `run` returns a sentence for the person who tries. */
export interface Try extends TryAction {
  run(input: unknown, deps: TryDeps, signal: AbortSignal): Promise<string>;
}

const aboutObject = z.object({ namespace: z.string().default(''), name: z.string().min(1) });
/** The page sends the resource of the object, for actions of several. */
const aboutWorkload = aboutObject.extend({ resource: z.string() });
const workloads = [Deployments, StatefulSets, DaemonSets] as const;
const scalable = [Deployments, StatefulSets, ReplicaSets] as const;
const managerLease = objectKey('kube-system', 'kube-controller-manager');

export const tries: readonly Try[] = [
  {
    id: 'kill-any',
    label: 'Kill a pod',
    description: 'Deletes a pod that a controller owns. Its owner creates another one.',
    resources: [],
    fields: [],
    run: killAny,
  },
  {
    id: 'slow',
    label: 'Slow the API',
    description: 'Each request to the API waits, for a while. Keys run for longer; nothing is lost.',
    resources: [],
    fields: [
      { name: 'delayMs', label: 'Delay in ms', kind: 'number', default: '300' },
      { name: 'seconds', label: 'For seconds', kind: 'seconds', default: '15' },
    ],
    run: slow,
  },
  {
    id: 'cut-watches',
    label: 'Cut all watches',
    description: 'The API ends every watch. Informers open new ones where the old ones ended.',
    resources: [],
    fields: [],
    run: async (_input, { sandbox }) => {
      sandbox.endWatches();
      return 'All watches were cut. Informers resume them.';
    },
  },
  {
    id: 'take-lease',
    label: 'Take the lease away',
    description: 'Another process holds the lease for five seconds. The manager stops, waits and leads again.',
    resources: [],
    fields: [],
    run: takeLease,
  },
  {
    id: 'kill',
    label: 'Kill',
    description: 'Deletes the pod.',
    resources: [resourceName(Pods)],
    fields: [],
    run: async (input, { client }, signal) => {
      const { namespace, name } = aboutObject.parse(input);
      await client.delete(Pods, objectKey(namespace, name), {}, signal);
      return `Pod ${name} is being deleted.`;
    },
  },
  {
    id: 'scale',
    label: 'Scale',
    description: 'Sets the number of replicas.',
    resources: scalable.map(resourceName),
    fields: [{ name: 'replicas', label: 'Replicas', kind: 'number', default: '5' }],
    run: scale,
  },
  {
    id: 'roll-out',
    label: 'Roll out',
    description: 'Changes the pod template, as kubectl rollout restart does: every pod is replaced.',
    resources: workloads.map(resourceName),
    fields: [],
    run: async (input, deps, signal) => {
      const { clock } = deps;
      const restarted = { 'kubectl.kubernetes.io/restartedAt': formatTime(clock.now()), [neverReady]: null };
      return `${await annotateTemplate(input, restarted, deps, signal)} is rolled out.`;
    },
  },
  {
    id: 'break',
    label: 'Roll out a broken version',
    description: 'The new pods never become ready. The rollout stops, and the page says why.',
    resources: [resourceName(Deployments)],
    fields: [],
    run: async (input, deps, signal) =>
      `${await annotateTemplate(input, { [neverReady]: 'true' }, deps, signal)}: its new pods never become ready.`,
  },
  {
    id: 'drain',
    label: 'Drain',
    description: 'Cordons the node and evicts its pods. They are created again on other nodes.',
    resources: [resourceName(Nodes)],
    fields: [],
    run: drain,
  },
  {
    id: 'uncordon',
    label: 'Uncordon',
    description: 'Pods may be bound to the node again.',
    resources: [resourceName(Nodes)],
    fields: [],
    run: async (input, { client }, signal) => {
      const { name } = aboutObject.parse(input);
      await cordon(client, name, false, signal);
      return `Node ${name} takes pods again.`;
    },
  },
];

/** What the page needs to know of it. */
export function describeTry({ id, label, description, resources, fields }: Try): TryAction {
  return { id, label, description, resources, fields };
}

const neverReady = 'hollow-node/never-ready';

async function killAny(_input: unknown, { client, random }: TryDeps, signal: AbortSignal): Promise<string> {
  const { items } = await client.listAll(Pods, {}, signal);
  const owned = items.filter((pod) => controllerOf(pod) !== undefined && !isBeingDeleted(pod.metadata));
  const victim = owned[Math.floor(random() * owned.length)];
  if (victim === undefined) return 'There is no pod with an owner: create a Deployment first.';
  await client.delete(Pods, keyOf(victim), {}, signal);
  return `Pod ${victim.metadata.name} is being deleted.`;
}

const slowness = z.object({
  delayMs: z.coerce.number().int().min(1).max(5000),
  seconds: z.coerce.number().int().min(1).max(120),
});

async function slow(input: unknown, { sandbox }: TryDeps): Promise<string> {
  const { delayMs, seconds } = slowness.parse(input);
  sandbox.delayRequests({ delayMs, forMs: seconds * 1000 });
  return `Each request takes ${delayMs} ms longer, for ${seconds} s.`;
}

/** A record of a holder that does not exist: it is not renewed, so it expires after its five seconds. */
async function takeLease(_input: unknown, { client, clock }: TryDeps, signal: AbortSignal): Promise<string> {
  const time = formatMicroTime(clock.now());
  const spec = { holderIdentity: 'somebody-else', leaseDurationSeconds: 5, renewTime: time, acquireTime: time };
  await client.patch(Leases, managerLease, { type: 'merge', body: { spec } }, signal);
  return 'somebody-else holds the lease for 5 s. The manager stops, and leads again when the lease has expired.';
}

const sizes = aboutWorkload.extend({ replicas: z.coerce.number().int().min(0).max(5000) });

async function scale(input: unknown, { client }: TryDeps, signal: AbortSignal): Promise<string> {
  const { namespace, name, resource, replicas } = sizes.parse(input);
  const kind = find(scalable, resource);
  await client.patch(kind, objectKey(namespace, name), { type: 'merge', body: { spec: { replicas } } }, signal);
  return `${kind.kind} ${name} is scaled to ${replicas}.`;
}

async function annotateTemplate(
  input: unknown,
  annotations: Readonly<Record<string, string | null>>,
  { client }: TryDeps,
  signal: AbortSignal,
): Promise<string> {
  const { namespace, name, resource } = aboutWorkload.parse(input);
  const kind = find(workloads, resource);
  const body = { spec: { template: { metadata: { annotations } } } };
  await client.patch(kind, objectKey(namespace, name), { type: 'merge', body }, signal);
  return `${kind.kind} ${name}`;
}

async function drain(input: unknown, { client }: TryDeps, signal: AbortSignal): Promise<string> {
  const { name } = aboutObject.parse(input);
  await cordon(client, name, true, signal);
  const { items } = await client.listAll(Pods, { fieldSelector: `spec.nodeName=${name}` }, signal);
  const evicted = items.filter((pod) => controllerOf(pod)?.kind !== 'DaemonSet' && !isBeingDeleted(pod.metadata));
  await Promise.all(evicted.map((pod) => evict(client, pod, signal)));
  return `Node ${name} is cordoned; ${evicted.length} pods are evicted.`;
}

async function evict(client: Client, pod: Pod, signal: AbortSignal): Promise<void> {
  try {
    await client.evictPod(keyOf(pod), {}, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function cordon(client: Client, name: string, unschedulable: boolean, signal: AbortSignal): Promise<void> {
  const key: ObjectKey = objectKey(undefined, name);
  await client.patch(Nodes, key, { type: 'merge', body: { spec: { unschedulable } } }, signal);
}

function find(kinds: readonly Kind<KubeObject>[], resource: string): Kind<KubeObject> {
  const kind = kinds.find((each) => resourceName(each) === resource);
  if (kind === undefined) throw new UnknownTargetError(`${resource}: this cannot be tried on it`);
  return kind;
}

export class UnknownTargetError extends Error {
  override readonly name = 'UnknownTargetError';
  readonly reason = 'UnknownTarget';
}
