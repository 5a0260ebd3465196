import type { Cached, DaemonSet, DaemonSetStatus } from '../../pkg/api/index.ts';
import { isPodAvailable, isPodReady } from '../../pkg/pods/index.ts';
import { isPodUpdated, sortDaemonPods, type Current, type Layout } from './daemon-pods.ts';

export interface StatusInput {
  readonly daemonSet: Cached<DaemonSet>;
  readonly layout: Layout;
  readonly current: Current;
  readonly nowMs: number;
}

/**
 * The minimum time between two status writes: 50 ms, and 1 s from 200 nodes on. Pods of many nodes become ready one by
 * one, over seconds: a write every 50 ms would tell of a few pods each.
 */
export function statusIntervalMsOf(nodes: number): number {
  return Math.min(1000, Math.max(50, nodes * 5));
}

/** Whether every node has an available pod of the current revision: no pod is about to change. */
export function isRolledOut(status: DaemonSetStatus): boolean {
  const { desiredNumberScheduled, updatedNumberScheduled, numberAvailable, numberMisscheduled } = status;
  return (
    updatedNumberScheduled === desiredNumberScheduled &&
    numberAvailable === desiredNumberScheduled &&
    numberMisscheduled === 0
  );
}

/** The counts of the status. If a node has several pods, the oldest counts. */
export function computeStatus({ daemonSet, layout, current, nowMs }: StatusInput): DaemonSetStatus {
  const { minReadySeconds = 0 } = daemonSet.spec;
  const status = {
    desiredNumberScheduled: 0,
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    numberReady: 0,
    updatedNumberScheduled: 0,
    numberAvailable: 0,
  };
  for (const { shouldRun, pods } of layout.nodes) {
    const [oldest] = pods.length > 1 ? sortDaemonPods(pods) : pods;
    if (!shouldRun) {
      if (oldest !== undefined) status.numberMisscheduled += 1;
      continue;
    }
    status.desiredNumberScheduled += 1;
    if (oldest === undefined) continue;
    status.currentNumberScheduled += 1;
    if (isPodReady(oldest)) status.numberReady += 1;
    if (isPodAvailable(oldest, minReadySeconds, nowMs)) status.numberAvailable += 1;
    if (isPodUpdated(oldest, current)) status.updatedNumberScheduled += 1;
  }
  const { collisionCount, conditions } = daemonSet.status ?? {};
  return {
    ...status,
    numberUnavailable: status.desiredNumberScheduled - status.numberAvailable,
    observedGeneration: daemonSet.metadata.generation,
    collisionCount,
    conditions: conditions === undefined ? undefined : [...conditions],
  };
}

const counts = [
  'desiredNumberScheduled',
  'currentNumberScheduled',
  'numberMisscheduled',
  'numberReady',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
] as const;

/** Whether the DaemonSet already has this status. The API omits some counts of zero. */
export function isStatusCurrent({ metadata, status: present }: Cached<DaemonSet>, status: DaemonSetStatus): boolean {
  if ((present?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false;
  return counts.every((name) => (present?.[name] ?? 0) === (status[name] ?? 0));
}
