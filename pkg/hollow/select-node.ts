import {
  compileSelector,
  InvalidSelectorError,
  isConditionTrue,
  isBeingDeleted,
  ownValue,
  type Cached,
  type LabelSelector,
  type Node,
  type Pod,
  type Selector,
  type Taint,
  type Toleration,
} from '../api/index.ts';

export interface Candidate {
  /** Undefined: not registered, or gone. */
  readonly node: Cached<Node> | undefined;
  /** Pods that the node has already. */
  readonly load: number;
}

/** How many suitable nodes are compared: enough to even out the load, few enough to stay cheap with thousands of nodes. */
const compared = 16;

/**
 * The node for a pod: of the first suitable ones, from `startAt` on and round, the one with the fewest pods. Looks at
 * readiness, nodeSelector, required node affinity and taints; not at resources, of which a hollow node has no end.
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

/** Whether a pod waits for a binding that is ours to make. */
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
  const labelsOfNode = Object.entries(pod.spec.nodeSelector ?? {});
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const acceptedTerms = terms?.map(compileTerm);
  const tolerations = pod.spec.tolerations ?? [];
  return (node) =>
    isSchedulable(node) &&
    labelsOfNode.every(([name, value]) => ownValue(node.metadata.labels, name) === value) &&
    (acceptedTerms === undefined || acceptedTerms.some((accepts) => accepts(node))) &&
    (node.spec.taints ?? []).every((taint) => !repels(taint) || tolerations.some((one) => tolerates(one, taint)));
}

type Expressions = NonNullable<Cached<LabelSelector>['matchExpressions']>;

/** One term of a node affinity. Fields are labels of another kind, of which there is one: the node's name. */
function compileTerm(term: {
  readonly matchExpressions?: Expressions | undefined;
  readonly matchFields?: Expressions | undefined;
}): (node: Cached<Node>) => boolean {
  const byLabels = compileOrNothing(term.matchExpressions);
  const byFields = compileOrNothing(term.matchFields);
  const isEmpty = (term.matchExpressions?.length ?? 0) + (term.matchFields?.length ?? 0) === 0;
  return (node) => !isEmpty && byLabels(node.metadata.labels) && byFields({ 'metadata.name': node.metadata.name });
}

function compileOrNothing(matchExpressions: Expressions = []): Selector {
  try {
    return compileSelector({ matchExpressions });
  } catch (error) {
    // Gt and Lt exist for nodes only. A pod that needs them stays pending, as on a cluster without such nodes.
    if (error instanceof InvalidSelectorError) return () => false;
    throw error;
  }
}

/** These two repeat what the Ready condition says; admission puts the first on every new node, ready or not. */
const repeated: ReadonlySet<string> = new Set(['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']);

function repels({ key, effect }: Cached<Taint>): boolean {
  return (effect === 'NoSchedule' || effect === 'NoExecute') && !repeated.has(key);
}

function tolerates(toleration: Cached<Toleration>, taint: Cached<Taint>): boolean {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || (key !== '' && value === (taint.value ?? ''));
}
