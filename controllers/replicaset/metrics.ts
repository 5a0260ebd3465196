import { parseTime, Pods, ReplicaSets, type Cached, type Kind, type Pod } from '../../pkg/api/index.ts';
import { isPodReady } from '../../pkg/pods/index.ts';
import { defineCounter, defineHistogram, exponentialBuckets, type MetricsRegistry } from '../../pkg/metrics/index.ts';

/** Called by the controller. */
export interface ReplicaMetrics {
  /** A scale-down chose these pods for deletion. */
  chose(chosen: readonly Cached<Pod>[], among: readonly Cached<Pod>[], nowMs: number): void;
  /** A sync was skipped because the cache of this kind has not observed an own write yet. */
  waitedFor(kind: Pick<Kind, 'group' | 'resource'>): void;
}

/** The metrics, with the names and labels of the Go binary. */
export function createReplicaMetrics(registry: MetricsRegistry): ReplicaMetrics {
  const ageRatio = defineHistogram(registry, {
    name: 'replicaset_controller_sorting_deletion_age_ratio',
    help:
      'Age of each ready pod that a scale-down deletes, as a multiple of the age of the youngest ready pod. Should be ' +
      'below 2: ages within a power of two count as equal.',
    buckets: exponentialBuckets(0.25, 2, 6),
  });
  const skips = defineCounter(registry, {
    name: 'replicaset_controller_stale_sync_skips_total',
    help: 'Skipped ReplicaSet syncs: a cache had not observed the last write yet',
    labels: ['group', 'resource'],
  });
  const skipsOf = ({ group, resource }: Pick<Kind, 'group' | 'resource'>) => skips.with({ group, resource });
  for (const kind of [Pods, ReplicaSets]) skipsOf(kind);
  return {
    chose(chosen, among, nowMs) {
      for (const ratio of computeAgeRatios(chosen, among, nowMs)) ageRatio.observe(ratio);
    },
    waitedFor: (kind) => skipsOf(kind).inc(),
  };
}

/** The age of each chosen ready pod, as a whole multiple of the age of the youngest ready pod. */
export function computeAgeRatios(
  chosen: readonly Cached<Pod>[],
  among: readonly Cached<Pod>[],
  nowMs: number,
): readonly number[] {
  const ageMs = ({ metadata }: Cached<Pod>): number => nowMs - (parseTime(metadata.creationTimestamp) ?? nowMs);
  const youngestMs = Math.min(...among.filter(isPodReady).map(ageMs));
  // Creation times are whole seconds and clocks differ: the age of the youngest pod may be negative.
  return chosen.filter(isPodReady).map((pod) => Math.trunc(ageMs(pod) / Math.max(1, youngestMs)));
}
