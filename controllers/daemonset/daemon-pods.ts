import {
  isBeingDeleted,
  ownValue,
  parseInt64,
  parseTime,
  type Cached,
  type DaemonSet,
  type Node,
  type Pod,
} from '../../pkg/api/index.ts';
import { targetNodeOf } from '../../pkg/nodes/index.ts';
import { isPodFinished } from '../../pkg/pods/index.ts';
import { revisionHashLabel } from '../../pkg/revisions/index.ts';
import type { Placement } from './placement.ts';

/** One node, with the pods of a DaemonSet. */
export interface NodeView extends Placement {
  readonly name: string;
  /** The pods of the DaemonSet on this node, and those that wait to be scheduled to it. */
  readonly pods: readonly Cached<Pod>[];
}

/** The pods of a DaemonSet by node. */
export interface Layout {
  readonly nodes: readonly NodeView[];
  /** The pods of nodes that do not exist. */
  readonly strays: ReadonlyMap<string, readonly Cached<Pod>[]>;
}

/** Groups pods by node. Leaves out finished pods that are being deleted: they need no action. */
export function layOut(
  nodes: readonly Cached<Node>[],
  pods: readonly Cached<Pod>[],
  placementOn: (node: Cached<Node>) => Placement,
): Layout {
  const strays = new Map<string, Cached<Pod>[]>();
  for (const pod of pods) {
    const node = targetNodeOf(pod);
    if (node === undefined || (isPodFinished(pod) && isBeingDeleted(pod.metadata))) continue;
    const others = strays.get(node);
    if (others === undefined) strays.set(node, [pod]);
    else others.push(pod);
  }
  const views = nodes.map((node): NodeView => {
    const { name } = node.metadata;
    const here = strays.get(name) ?? [];
    strays.delete(name);
    return { name, ...placementOn(node), pods: here };
  });
  return { nodes: views, strays };
}

/** Scheduled pods first, then the oldest. */
export function sortDaemonPods(pods: readonly Cached<Pod>[]): Cached<Pod>[] {
  return [...pods].sort((a, b) => {
    const waits = ({ spec: { nodeName = '' } }: Cached<Pod>): number => (nodeName === '' ? 1 : 0);
    const createdMs = ({ metadata }: Cached<Pod>): number => parseTime(metadata.creationTimestamp) ?? 0;
    return waits(a) - waits(b) || createdMs(a) - createdMs(b) || (a.metadata.name < b.metadata.name ? -1 : 1);
  });
}

/** The label with the generation of the template. It is older than revisions, and still honoured. */
export const templateGenerationLabel = 'pod-template-generation';
const templateGenerationAnnotation = 'deprecated.daemonset.template.generation';

export function templateGenerationOf({ metadata }: Cached<DaemonSet>): string | undefined {
  return parseInt64(ownValue(metadata.annotations, templateGenerationAnnotation))?.toString();
}

/** How to distinguish updated pods from old ones. */
export interface Current {
  /** The hash of the current revision. */
  readonly hash: string;
  readonly templateGeneration: string | undefined;
}

export function isPodUpdated({ metadata: { labels } }: Cached<Pod>, { hash, templateGeneration }: Current): boolean {
  if (hash !== '' && ownValue(labels, revisionHashLabel) === hash) return true;
  return templateGeneration !== undefined && ownValue(labels, templateGenerationLabel) === templateGeneration;
}
