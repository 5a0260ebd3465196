import { isBeingDeleted, parseTime, zeroTimeMs, type Cached, type Pod } from '../../pkg/api/index.ts';
import { readyCondition } from '../../pkg/pods/index.ts';
import type { PodMetric, PodMetrics } from './metric-reading.ts';

export interface Readiness {
  /** For this long after its start, the CPU usage of a pod counts only if it is ready and measured since. */
  readonly cpuInitializationMs: number;
  /** A pod whose readiness last changed within this time after its start has never been ready. */
  readonly initialReadinessDelayMs: number;
  readonly nowMs: number;
}

export interface PodGroups {
  readonly readyCount: number;
  /** Pending, or not ready to be measured. */
  readonly unready: ReadonlySet<string>;
  /** Running, but without a metric. */
  readonly missing: ReadonlySet<string>;
  /** Terminating or failed: as if they did not exist. */
  readonly ignored: ReadonlySet<string>;
}

/** Sorts pods by how their metrics count. `resource` is undefined for a metric that is not a resource. */
export function groupPods(
  pods: readonly Cached<Pod>[],
  metrics: PodMetrics,
  resource: string | undefined,
  readiness: Readiness,
): PodGroups {
  const unready = new Set<string>();
  const missing = new Set<string>();
  const ignored = new Set<string>();
  let readyCount = 0;
  for (const pod of pods) {
    const { name } = pod.metadata;
    const phase = pod.status?.phase;
    const metric = metrics.get(name);
    if (isBeingDeleted(pod.metadata) || phase === 'Failed') ignored.add(name);
    else if (phase === 'Pending') unready.add(name);
    else if (metric === undefined) missing.add(name);
    else if (resource === 'cpu' && !isMeasurable(pod, metric, readiness)) unready.add(name);
    else readyCount++;
  }
  return { readyCount, unready, missing, ignored };
}

/** A starting pod takes CPU time that says nothing about its load. */
function isMeasurable(
  pod: Cached<Pod>,
  { timestampMs, windowMs }: PodMetric,
  { cpuInitializationMs, initialReadinessDelayMs, nowMs }: Readiness,
): boolean {
  const condition = readyCondition(pod);
  const startMs = parseTime(pod.status?.startTime);
  if (condition === undefined || startMs === undefined) return false;
  const isUnready = condition.status === 'False';
  const changedMs = parseTime(condition.lastTransitionTime) ?? zeroTimeMs;
  if (startMs + cpuInitializationMs > nowMs) return !isUnready && timestampMs >= changedMs + windowMs;
  return !isUnready || startMs + initialReadinessDelayMs <= changedMs;
}
