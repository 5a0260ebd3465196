import {
  CoreEvents,
  findCondition,
  isConditionTrue,
  type Node,
  Nodes,
  objectKey,
  type Pod,
  Pods,
  type Toleration,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { HollowNodes } from '../../pkg/hollow/index.ts';
import { watchUntil } from './eventually.ts';

const key = (name: string): string => `node.kubernetes.io/${name}`;

export const hasTaint = ({ spec }: Node, name: string, effect: string): boolean =>
  spec.taints?.some((taint) => taint.key === key(name) && taint.effect === effect) === true;

/** The node's pods must be evicted. */
export const isEvicting = (node: Node): boolean =>
  hasTaint(node, 'unreachable', 'NoExecute') || hasTaint(node, 'not-ready', 'NoExecute');

export const isReady = ({ status }: Node | Pod): boolean => isConditionTrue(status?.conditions, 'Ready');
export const readyStatus = ({ status }: Node | Pod): string | undefined =>
  findCondition(status?.conditions, 'Ready')?.status;
export const isHealthy = (node: Node): boolean => isReady(node) && (node.spec.taints ?? []).length === 0;
export const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

/** Tolerates failed nodes, for ever if no time is set. */
export const tolerating = (tolerationSeconds?: number): Toleration[] =>
  ['unreachable', 'not-ready'].map((name) => ({
    key: key(name),
    operator: 'Exists',
    effect: 'NoExecute',
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  }));

export interface NodeUserOptions {
  readonly client: Client;
  readonly hollow: HollowNodes;
  /** As given to the hollow nodes. */
  readonly zones: readonly string[];
}

/** Acts like a user of nodes and their pods, and waits for conditions. */
export class NodeUser {
  readonly client: Client;
  readonly hollow: HollowNodes;
  readonly #zones: readonly string[];

  constructor({ client, hollow, zones }: NodeUserOptions) {
    this.client = client;
    this.hollow = hollow;
    this.#zones = zones;
  }

  get nodeCount(): number {
    return this.hollow.nodeNames.length;
  }

  nodesIn(zone: string): readonly string[] {
    return this.hollow.nodeNames.filter((_, index) => this.#zones[index % this.#zones.length] === zone);
  }

  async nodeWhen(name: string, isWanted: (node: Node) => boolean, signal: AbortSignal): Promise<Node> {
    const [node] = await watchUntil(this.client, Nodes, { fieldSelector: `metadata.name=${name}` }, isWanted, signal);
    if (node === undefined) throw new Error(`node ${name} is missing`);
    return node;
  }

  async podWhen(namespace: string, name: string, isWanted: (pod: Pod) => boolean, signal: AbortSignal): Promise<Pod> {
    const options = { namespace, fieldSelector: `metadata.name=${name}` };
    const [pod] = await watchUntil(this.client, Pods, options, isWanted, signal);
    if (pod === undefined) throw new Error(`pod ${name} is missing`);
    return pod;
  }

  async podGone(namespace: string, name: string, signal: AbortSignal): Promise<void> {
    const options = { namespace, fieldSelector: `metadata.name=${name}`, count: 0 };
    await watchUntil(this.client, Pods, options, () => true, signal);
  }

  /** Resolves when it is ready. */
  async runPod(
    { namespace, name, nodeName }: { readonly namespace: string; readonly name: string; readonly nodeName: string },
    tolerations: Toleration[],
    signal: AbortSignal,
  ): Promise<void> {
    const spec = { nodeName, tolerations, containers: [{ name: 'app', image: 'example' }] };
    await this.client.create(Pods, { metadata: { namespace, name }, spec }, signal);
    await this.podWhen(namespace, name, isReady, signal);
  }

  /** Those of nodes are in the namespace `default`. */
  async eventsIn(namespace: string, signal: AbortSignal): Promise<readonly string[]> {
    const { items } = await this.client.listAll(CoreEvents, { namespace }, signal);
    return items.map(({ type, reason, message }) => `${type ?? ''} ${reason ?? ''} ${message ?? ''}`);
  }

  async cordon(name: string, unschedulable: boolean, signal: AbortSignal): Promise<void> {
    const body = { spec: { unschedulable: unschedulable ? true : null } };
    await this.client.patch(Nodes, objectKey(undefined, name), { type: 'merge', body }, signal);
  }

  async setTaints(name: string, taints: readonly object[], signal: AbortSignal): Promise<void> {
    const body = { spec: { taints } };
    await this.client.patch(Nodes, objectKey(undefined, name), { type: 'merge', body }, signal);
  }

  /** Waits until all nodes are ready. */
  async allUp(signal: AbortSignal): Promise<void> {
    for (const name of this.hollow.nodeNames) this.hollow.resumeHeartbeats(name);
    await watchUntil(this.client, Nodes, { count: this.nodeCount }, isHealthy, signal);
  }
}
