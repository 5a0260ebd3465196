import { isBeingDeleted, ownValue, type Cached, type Node } from '../../pkg/api/index.ts';

const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
/** The cluster autoscaler is about to delete the node. */
const toBeDeletedTaint = 'ToBeDeletedByClusterAutoscaler';
const trueWords = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const falseWords = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** A label that is neither true nor false excludes the node, as an empty one does. */
function isIncluded({ metadata }: Cached<Node>): boolean {
  const label = ownValue(metadata.labels, excludeLabel);
  return label === undefined || (!trueWords.has(label) && falseWords.has(label));
}

/**
 * The nodes that load balancers send traffic to. Readiness does not count: the health checks of the load balancer notice
 * it sooner, and every change would be a call to the cloud for each Service.
 */
export function selectBackends(nodes: readonly Cached<Node>[]): readonly Cached<Node>[] {
  return nodes.filter(
    (node) =>
      !isBeingDeleted(node.metadata) &&
      isIncluded(node) &&
      !(node.spec.taints ?? []).some(({ key }) => key === toBeDeletedTaint),
  );
}

/** Whether a change of a node may change the backends. A taint alone does not: connections may drain. */
export function changesBackends(before: Cached<Node>, after: Cached<Node>): boolean {
  return isIncluded(before) !== isIncluded(after) || providerIdOf(before) !== providerIdOf(after);
}

export function areSameBackends(a: readonly Cached<Node>[], b: readonly Cached<Node>[]): boolean {
  if (a.length !== b.length) return false;
  const ids = new Map(a.map((node) => [node.metadata.name, providerIdOf(node)]));
  return b.every((node) => ids.get(node.metadata.name) === providerIdOf(node));
}

function providerIdOf({ spec }: Cached<Node>): string {
  return spec.providerID ?? '';
}

const maxNames = 20;

/** The names of nodes for events, as in Go: `[a b]`, at most twenty. */
export function describeBackends(nodes: readonly Cached<Node>[]): string {
  const names = nodes
    .slice(0, maxNames)
    .map(({ metadata }) => metadata.name)
    .sort();
  return `[${[...names, ...(nodes.length > maxNames ? [`<${nodes.length - maxNames} more>`] : [])].join(' ')}]`;
}
