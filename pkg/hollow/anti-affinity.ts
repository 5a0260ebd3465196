import { compileSelector, type Cached, type Pod, type PodSpec } from '../api/index.ts';
import { selectorOrNone } from '../controller/index.ts';

/** The pods of a node that matter for anti-affinity. */
export interface Neighbours {
  /** By uid. */
  readonly pods: ReadonlyMap<string, Cached<Pod>>;
  /** The pods with required anti-affinity. */
  readonly repelling: ReadonlyMap<string, Cached<Pod>>;
}

const hostname = 'kubernetes.io/hostname';

type Terms = NonNullable<
  NonNullable<PodSpec['affinity']>['podAntiAffinity']
>['requiredDuringSchedulingIgnoredDuringExecution'];

function termsOf({ spec }: Cached<Pod>): NonNullable<Cached<Terms>> {
  const terms = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.filter(({ topologyKey }) => topologyKey === hostname);
}

/** Whether the pod requires that some other pods are not on its node. */
export function repelsOthers(pod: Cached<Pod>): boolean {
  return pod.spec.affinity?.podAntiAffinity !== undefined && termsOf(pod).length > 0;
}

/**
 * Whether the pod may run beside the pods of a node, by the required anti-affinity of both sides. A namespace selector
 * counts only if it is empty, which selects all: the simulation does not know the labels of namespaces.
 */
export function compileJoin(pod: Cached<Pod>): (neighbours: Neighbours) => boolean {
  const isRepelled = repelsOthers(pod) ? compileRepulsion(pod) : undefined;
  return ({ pods, repelling }) => {
    for (const other of repelling.values()) if (compileRepulsion(other)(pod)) return false;
    if (isRepelled === undefined) return true;
    for (const other of pods.values()) if (isRepelled(other)) return false;
    return true;
  };
}

function compileRepulsion(pod: Cached<Pod>): (other: Cached<Pod>) => boolean {
  const terms = termsOf(pod).map(({ labelSelector, namespaces = [], namespaceSelector }) => {
    const isSelected = selectorOrNone(() => compileSelector(labelSelector));
    const isAnywhere = namespaceSelector !== undefined && Object.keys(namespaceSelector).length === 0;
    const isOwn = namespaces.length === 0 && namespaceSelector === undefined;
    const places = new Set(isOwn ? [pod.metadata.namespace] : namespaces);
    return ({ metadata }: Cached<Pod>): boolean =>
      (isAnywhere || places.has(metadata.namespace ?? '')) && isSelected(metadata.labels);
  });
  return (other) => terms.some((matches) => matches(other));
}
