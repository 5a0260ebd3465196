import { isBeingDeleted, isConditionTrue, type Cached, type Node, type Pod, type Taint } from '../api/index.ts';
import { compileNodeAffinity, targetNodeOf, type NodePredicate } from '../nodes/index.ts';
import { nodeTaints, tolerates } from '../taints/index.ts';
import { compileJoin, type Neighbours } from './anti-affinity.ts';

export interface Candidate {
  /** Undefined if the node is not registered or was deleted. */
  readonly node: Cached<Node> | undefined;
  /** The number of pods on the node. */
  readonly load: number;
  /** Default: none. */
  readonly neighbours?: Neighbours | undefined;
}

export interface Search {
  /** The index of the candidate to begin with. */
  readonly startAt: number;
  /** The nodes that the volumes of the pod allow. Default: all. */
  readonly canReachVolumes?: NodePredicate | undefined;
}

/** The number of suitable nodes to compare: enough to balance the load, few enough for thousands of nodes. */
const compared = 16;

/**
 * Selects a node for a pod: the one with the fewest pods among the first suitable nodes, searched round-robin from
 * `startAt`. Considers readiness, nodeSelector, required node affinity, taints, volumes and required pod anti-affinity by
 * hostname. Hollow nodes have unlimited resources.
 */
export function selectNode<C extends Candidate>(
  pod: Cached<Pod>,
  candidates: readonly C[],
  { startAt, canReachVolumes }: Search,
): C | undefined {
  const accepts = compilePlacement(pod);
  const mayJoin = compileJoin(pod);
  let best: C | undefined;
  let suitable = 0;
  for (let step = 0; step < candidates.length && suitable < compared; step++) {
    const candidate = candidates[(startAt + step) % candidates.length];
    if (candidate?.node === undefined || !accepts(candidate.node)) continue;
    if (canReachVolumes?.(candidate.node) === false) continue;
    if (candidate.neighbours !== undefined && !mayJoin(candidate.neighbours)) continue;
    suitable++;
    if (best === undefined || candidate.load < best.load) best = candidate;
  }
  return best;
}

/** Whether the pod waits for a binding by this simulation. */
export function isWaitingForNode(pod: Cached<Pod>): boolean {
  const { nodeName, schedulerName = 'default-scheduler', schedulingGates = [] } = pod.spec;
  return (
    (nodeName === undefined || nodeName === '') &&
    schedulerName === 'default-scheduler' &&
    schedulingGates.length === 0 &&
    !isBeingDeleted(pod.metadata) &&
    pod.status?.phase !== 'Succeeded' &&
    pod.status?.phase !== 'Failed'
  );
}

export function isSchedulable(node: Cached<Node>): boolean {
  return node.spec.unschedulable !== true && isReady(node);
}

function isReady(node: Cached<Node>): boolean {
  return isConditionTrue(node.status?.conditions, 'Ready');
}

const unschedulable: Taint = { key: nodeTaints.unschedulable, effect: 'NoSchedule' };

function compilePlacement(pod: Cached<Pod>): (node: Cached<Node>) => boolean {
  const isAllowed = compileNodeAffinity(pod.spec);
  const tolerations = pod.spec.tolerations ?? [];
  const isTolerated = (taint: Cached<Taint>): boolean =>
    tolerations.some((toleration) => tolerates(toleration, taint, { allowComparisons: true }));
  const toleratesUnschedulable = isTolerated(unschedulable); // pods of DaemonSets do
  const { nodeSelectorTerms = [] } =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  const target = nodeSelectorTerms.length === 1 ? targetNodeOf(pod) : undefined;
  return (node) =>
    (target === undefined || target === node.metadata.name) && // spares most nodes the other checks
    isReady(node) &&
    (node.spec.unschedulable !== true || toleratesUnschedulable) &&
    isAllowed(node) &&
    (node.spec.taints ?? []).every((taint) => !repels(taint) || isTolerated(taint));
}

/** These two taints repeat the Ready condition. Admission adds the first to every new node, even if it is ready. */
const repeated: ReadonlySet<string> = new Set([nodeTaints.notReady, nodeTaints.unreachable]);

function repels({ key, effect }: Cached<Taint>): boolean {
  return (effect === 'NoSchedule' || effect === 'NoExecute') && !repeated.has(key);
}
