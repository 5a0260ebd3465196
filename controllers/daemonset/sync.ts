import type { Cached, DaemonSet, DaemonSetStatus, Node, Pod } from '../../pkg/api/index.ts';
import { nextAvailabilityMs } from '../../pkg/pods/index.ts';
import { layOut, templateGenerationOf, type Current } from './daemon-pods.ts';
import { planManage, type EndedPod, type PodChanges } from './manage.ts';
import { compilePlacement } from './placement.ts';
import { planRollingUpdate } from './rolling.ts';
import { computeStatus } from './status.ts';

export interface Snapshot {
  readonly daemonSet: Cached<DaemonSet>;
  readonly nodes: readonly Cached<Node>[];
  /** The pods of the DaemonSet, finished and terminating ones too. */
  readonly pods: readonly Cached<Pod>[];
  /** The hash of the current revision. */
  readonly hash: string;
  /** The nodes on which failed pods must wait, and for how long. */
  readonly backoffMs: ReadonlyMap<string, number>;
  readonly nowMs: number;
  /** The gate TaintTolerationComparisonOperators. */
  readonly allowComparisons: boolean;
}

export interface SyncPlan {
  readonly current: Current;
  readonly changes: PodChanges;
  readonly ended: readonly EndedPod[];
  readonly status: DaemonSetStatus;
  readonly requeueAfterMs: number | undefined;
}

/** The maximum number of pods that one sync creates, and that it deletes. */
const burst = 250;

/** Plans one sync. A rolling update proceeds only once every node has the pods that it should have. */
export function planSync(snapshot: Snapshot): SyncPlan {
  const { daemonSet, nodes, pods, hash, backoffMs, nowMs } = snapshot;
  const current = { hash, templateGeneration: templateGenerationOf(daemonSet) };
  const layout = layOut(nodes, pods, compilePlacement(daemonSet, snapshot));
  const managed = planManage({ daemonSet, layout, hash, backoffMs, nowMs });
  const isManaged = managed.create.length === 0 && managed.delete.length === 0;
  const isRolling = isManaged && daemonSet.spec.updateStrategy?.type === 'RollingUpdate';
  const changes: PodChanges = isRolling ? planRollingUpdate({ daemonSet, layout, current, nowMs }) : managed;
  const availableMs = nextAvailabilityMs(pods, daemonSet.spec.minReadySeconds ?? 0, nowMs);
  return {
    current,
    changes: { create: changes.create.slice(0, burst), delete: changes.delete.slice(0, burst) },
    ended: managed.ended,
    status: computeStatus({ daemonSet, layout, current, nowMs }),
    requeueAfterMs: soonest(managed.requeueAfterMs, availableMs),
  };
}

/**
 * The minimum time between two syncs: 20 ms for 100 pods, 100 ms from 2,500 pods on. A sync takes 0.7 ms for 500 nodes,
 * and every pod of an update causes six events: without an interval, a sync for each of them would keep a core busy.
 */
export function syncIntervalMs(pods: number): number {
  return Math.min(100, 2 * Math.sqrt(pods));
}

/** The shortest of these delays; undefined if all are undefined. */
export function soonest(...delaysMs: readonly (number | undefined)[]): number | undefined {
  const known = delaysMs.filter((delayMs) => delayMs !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
