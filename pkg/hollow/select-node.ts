import { isBeingDeleted, isConditionTrue, type Cached, type Node, type Pod, type Taint } from '../api/index.ts';
import { compileNodeAffinity } from '../nodes/index.ts';
import { nodeTaints, tolerates } from '../taints/index.ts';

export interface Candidate {
  /** Undefined if the node is not registered or was deleted. */
  readonly node: Cached<Node> | undefined;
  /** The number of pods on the node. */
  readonly load: number;
}

/** The number of suitable nodes to compare: enough to balance the load, few enough for thousands of nodes. */
const compared = 16;

/**
 * Selects a node for a pod: the one with the fewest pods among the first suitable nodes, searched round-robin from
 * `startAt`. Considers readiness, nodeSelector, required node affinity and taints. Hollow nodes have unlimited resources.
 */
export function selectNode<C extends Candidate>(
  pod: Cached<Pod>,
  candidates: readonly C[],
  startAt: number,
): C | undefined {
  const accepts = compilePlacement(pod);
  let best: C | undefined;
  let suitable = 0;
  for (let step = 0; step < candidates.length && suitable < compared; step++) {
    const candidate = candidates[(startAt + step) % candidates.length];
    if (candidate?.node === undefined || !accepts(candidate.node)) continue;
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
  return node.spec.unschedulable !== true && isConditionTrue(node.status?.conditions, 'Ready');
}

function compilePlacement(pod: Cached<Pod>): (node: Cached<Node>) => boolean {
  const isAllowed = compileNodeAffinity(pod.spec);
  const tolerations = pod.spec.tolerations ?? [];
  const isTolerated = (taint: Cached<Taint>): boolean =>
    tolerations.some((toleration) => tolerates(toleration, taint, { allowComparisons: true }));
  return (node) =>
    isSchedulable(node) &&
    isAllowed(node) &&
    (node.spec.taints ?? []).every((taint) => !repels(taint) || isTolerated(taint));
}

/** These two taints repeat the Ready condition. Admission adds the first to every new node, even if it is ready. */
const repeated: ReadonlySet<string> = new Set([nodeTaints.notReady, nodeTaints.unreachable]);

function repels({ key, effect }: Cached<Taint>): boolean {
  return (effect === 'NoSchedule' || effect === 'NoExecute') && !repeated.has(key);
}
