import {
  compileSelector,
  InvalidSelectorError,
  ownValue,
  parseInt64,
  selectorFromSet,
  type Cached,
  type LabelSelector,
  type Labels,
  type Node,
  type Pod,
  type Selector,
} from '../api/index.ts';

type Expressions = NonNullable<Cached<LabelSelector>['matchExpressions']>;

interface NodeSelectorTerm {
  readonly matchExpressions?: Expressions | undefined;
  readonly matchFields?: Expressions | undefined;
}

/** Whether a node satisfies the requirements of a pod or volume. Compile it once and use it for many nodes. */
export type NodePredicate = (node: Cached<Node>) => boolean;

/** The nodes that `spec.nodeSelector` and the required node affinity of a pod allow. */
export function compileNodeAffinity({ nodeSelector, affinity }: Cached<Pod>['spec']): NodePredicate {
  const hasLabels = selectorFromSet(nodeSelector ?? {});
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const isRequired = required === undefined ? undefined : compileNodeSelector(required.nodeSelectorTerms);
  return (node) => hasLabels(node.metadata.labels) && (isRequired === undefined || isRequired(node));
}

/** Matches the nodes that any of the terms selects. An empty list, an empty term and an invalid term select no node. */
export function compileNodeSelector(terms: readonly NodeSelectorTerm[] | null | undefined): NodePredicate {
  const compiled = (terms ?? []).map(compileTerm);
  return (node) => compiled.some((selects) => selects(node));
}

/** `matchFields` works like `matchExpressions`. The only field is `metadata.name`. */
function compileTerm({ matchExpressions, matchFields }: NodeSelectorTerm): NodePredicate {
  const isEmpty = (matchExpressions?.length ?? 0) + (matchFields?.length ?? 0) === 0;
  const byLabels = compileExpressions(matchExpressions ?? []);
  const byFields = compileExpressions(matchFields ?? []);
  return ({ metadata }) => !isEmpty && byLabels(metadata.labels) && byFields({ 'metadata.name': metadata.name });
}

function compileExpressions(expressions: Expressions): Selector {
  const isComparison = ({ operator }: Expressions[number]): boolean => operator === 'Gt' || operator === 'Lt';
  const comparisons = expressions.filter(isComparison).map(compileComparison);
  try {
    const others = compileSelector({ matchExpressions: expressions.filter((one) => !isComparison(one)) });
    return (labels) => others(labels) && comparisons.every((compare) => compare(labels));
  } catch (error) {
    if (error instanceof InvalidSelectorError) return () => false; // an invalid term matches no node
    throw error;
  }
}

/** `Gt` and `Lt` exist for nodes only. Both sides are int64. */
function compileComparison({ key, operator, values }: Expressions[number]): Selector {
  const bound = parseInt64(values?.length === 1 ? values[0] : undefined);
  return (labels: Labels | undefined) => {
    const value = parseInt64(ownValue(labels, key));
    if (bound === undefined || value === undefined) return false;
    return operator === 'Gt' ? value > bound : value < bound;
  };
}

/**
 * The node of a pod: the one that it is bound to, or the only one that its required affinity names. Controllers that run
 * a pod on each node place their pods so.
 */
export function targetNodeOf({ spec }: Cached<Pod>): string | undefined {
  if (spec.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields } of required?.nodeSelectorTerms ?? []) {
    for (const { key, operator, values } of matchFields ?? []) {
      if (key === 'metadata.name' && operator === 'In') return values?.length === 1 ? values[0] : undefined;
    }
  }
  return undefined;
}
