import {
  DaemonSets,
  isEqualJson,
  keyOf,
  type Cached,
  type DaemonSet,
  type Node,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import { controllerKeyOf, type KeySink } from '../../pkg/controller/index.ts';
import { defineIndex, type Handler, type Index, type Store } from '../../informers/index.ts';
import { targetNodeOf } from '../../pkg/nodes/index.ts';
import type { ToleranceOptions } from '../../pkg/taints/index.ts';
import { compilePlacement } from './placement.ts';

/** Pods of DaemonSets by node, also those that are not scheduled yet. */
export const daemonPodsByNode: Index<Pod> = defineIndex<Pod>('daemon node', (pod) => {
  const node = controllerKeyOf(pod, DaemonSets) === undefined ? undefined : targetNodeOf(pod);
  return node === undefined ? [] : [node];
});

/** DaemonSets by one label that their nodes must have. */
export const daemonSetsByNodeLabel: Index<DaemonSet> = defineIndex<DaemonSet>('node label', ({ spec }) => {
  const [required] = Object.entries(spec.template.spec?.nodeSelector ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return [required === undefined ? anyNode : required.join('=')];
});
const anyNode = '';

/** Enqueues nodes that are added or deleted, or whose changes affect placement. */
export function enqueueChangedNodes(queue: KeySink): Handler<Node> {
  return {
    added(node, initial) {
      if (!initial) queue.add(keyOf(node)); // every DaemonSet of the initial list syncs anyway
    },
    updated(before, after) {
      const isSame =
        isEqualJson(before.metadata.labels, after.metadata.labels) &&
        isEqualJson(before.spec.taints, after.spec.taints, { emptyIsAbsent: true });
      if (!isSame) queue.add(keyOf(after));
    },
    deleted: (last) => queue.add(keyOf(last)),
  };
}

export interface NodeChange {
  readonly nodeName: string;
  /** Undefined if the node is deleted. */
  readonly node: Cached<Node> | undefined;
  readonly pods: Store<Pod>;
  readonly daemonSets: Store<DaemonSet>;
}

/** The DaemonSets that have to sync because of a node: they have a pod there and should not, or the reverse. */
export function selectConcerned(
  { nodeName, node, pods, daemonSets }: NodeChange,
  options: ToleranceOptions,
): ObjectKey[] {
  const present = new Set<ObjectKey>();
  for (const pod of pods.byIndex(daemonPodsByNode, nodeName)) {
    const key = controllerKeyOf(pod, DaemonSets);
    if (key !== undefined) present.add(key);
  }
  if (node === undefined) return [...present];
  const labels = Object.entries(node.metadata.labels ?? {}).map((label) => label.join('='));
  const candidates = [anyNode, ...labels].flatMap((label) => daemonSets.byIndex(daemonSetsByNodeLabel, label));
  const wanting = candidates.filter((one) => compilePlacement(one, options)(node).shouldRun).map(keyOf);
  const wanted = new Set(wanting);
  const isMisplaced = (key: ObjectKey): boolean =>
    !wanted.has(key) || (daemonSets.get(key)?.status?.numberMisscheduled ?? 0) > 0;
  return [...wanting.filter((key) => !present.has(key)), ...[...present].filter(isMisplaced)];
}
