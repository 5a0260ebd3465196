import { isBeingDeleted, ownValue, type Cached, type DaemonSet, type Pod } from '../../pkg/api/index.ts';
import { isPodAvailable, isPodReady } from '../../pkg/pods/index.ts';
import { revisionHashLabel } from '../../pkg/revisions/index.ts';
import { sortDaemonPods, type Layout, type NodeView } from './daemon-pods.ts';
import { allowsSurge } from './strategy.ts';

/** A finished pod, which must be deleted to be replaced. */
export interface EndedPod {
  readonly pod: Cached<Pod>;
  readonly nodeName: string;
  readonly phase: 'Failed' | 'Succeeded';
}

export interface PodChanges {
  /** The nodes that get a pod. */
  readonly create: readonly string[];
  readonly delete: readonly Cached<Pod>[];
}

export interface ManagePlan extends PodChanges {
  /** The finished pods among those to delete. */
  readonly ended: readonly EndedPod[];
  /** When a failed pod on a node in back-off may be deleted. */
  readonly requeueAfterMs: number | undefined;
}

export interface ManageInput {
  readonly daemonSet: Cached<DaemonSet>;
  readonly layout: Layout;
  /** The hash of the current revision. */
  readonly hash: string;
  /** The back-off of each node on which failed pods must wait. */
  readonly backoffMs: ReadonlyMap<string, number>;
  readonly nowMs: number;
}

/** The first back-off of a node. A second failed pod on it waits this long. */
const firstBackoffMs = 1000;

/** Creates a pod on every node that should run one, and deletes all others. With surge, a second one may stay. */
export function planManage(input: ManageInput): ManagePlan {
  const create: string[] = [];
  const remove: Cached<Pod>[] = [];
  const ended: EndedPod[] = [];
  const waits: number[] = [];
  for (const view of input.layout.nodes) {
    if (view.shouldRun && view.pods.length === 0) create.push(view.name);
    else if (view.shouldContinue) {
      const found = planEnded(view, input.backoffMs.get(view.name));
      ended.push(...found.ended);
      waits.push(...found.waitsMs);
      if (found.running.length === 0 && view.shouldRun && allowsSurge(input.daemonSet)) create.push(view.name);
      remove.push(...found.ended.map(({ pod }) => pod), ...selectExcess(found.running, input));
    } else remove.push(...view.pods.filter(({ metadata }) => !isBeingDeleted(metadata)));
  }
  remove.push(...selectUnscheduledStrays(input.layout));
  return { create, delete: remove, ended, requeueAfterMs: waits.length === 0 ? undefined : Math.min(...waits) };
}

/** Handles finished pods. A kubelet may reject pods again and again, so failed pods are deleted with back-off. */
function planEnded({ name: nodeName, pods }: NodeView, backoffMs: number | undefined) {
  const ended: EndedPod[] = [];
  const waitsMs: number[] = [];
  const running: Cached<Pod>[] = [];
  let delayMs = backoffMs;
  for (const pod of pods) {
    if (isBeingDeleted(pod.metadata)) continue;
    const phase = pod.status?.phase;
    if (phase === 'Failed' && delayMs !== undefined) waitsMs.push(delayMs);
    else if (phase === 'Failed' || phase === 'Succeeded') {
      ended.push({ pod, nodeName, phase });
      if (phase === 'Failed') delayMs = firstBackoffMs;
    } else running.push(pod);
  }
  return { ended, waitsMs, running };
}

/** The surplus running pods of one node. */
function selectExcess(running: readonly Cached<Pod>[], input: ManageInput): Cached<Pod>[] {
  if (running.length <= 1) return [];
  const sorted = sortDaemonPods(running);
  if (!allowsSurge(input.daemonSet)) return sorted.slice(1);
  const isNew = ({ metadata }: Cached<Pod>): boolean => ownValue(metadata.labels, revisionHashLabel) === input.hash;
  const newest = sorted.find(isNew);
  const old = sorted.find((pod) => !isNew(pod));
  const excess = sorted.filter((pod) => pod !== newest && pod !== old);
  if (newest === undefined || old === undefined) return excess;
  // The old pod serves until the new one is available. An old pod that does not serve is not worth keeping.
  const { minReadySeconds = 0 } = input.daemonSet.spec;
  const isReplaced = !isPodReady(old) || isPodAvailable(newest, minReadySeconds, input.nowMs);
  return isReplaced ? [...excess, old] : excess;
}

/**
 * Pods that wait for a deleted node. No other controller deletes them: the pod garbage collector requires a node name.
 */
function selectUnscheduledStrays({ strays }: Layout): Cached<Pod>[] {
  return [...strays.values()].flat().filter(({ spec: { nodeName = '' } }) => nodeName === '');
}
