import { parseTime, Pods, ReplicaSets, type Cached, type Kind, type Pod } from '../../pkg/api/index.ts';
import { isPodReady } from '../../pkg/pods/index.ts';
import { defineCounter, defineHistogram, exponentialBuckets, type MetricsRegistry } from '../../pkg/metrics/index.ts';

/** Told of what the controller does. */
export interface ReplicaMetrics {
  /** Pods were chosen among others to go. */
  chose(chosen: readonly Cached<Pod>[], among: readonly Cached<Pod>[], nowMs: number): void;
  /** A sync had to wait until the cache of this kind has seen what was written. */
  waitedFor(kind: Pick<Kind, 'group' | 'resource'>): void;
}

/** The series, under the names and labels of the Go binary's. */
export function createReplicaMetrics(registry: MetricsRegistry): ReplicaMetrics {
  const ageRatio = defineHistogram(registry, {
    name: 'replicaset_controller_sorting_deletion_age_ratio',
    help:
      'How many times as old a ready pod that is deleted in a scale-down is as the youngest ready pod. Should be ' +
      'below 2: pods of one order of magnitude in age are deleted in any order.',
    buckets: exponentialBuckets(0.25, 2, 6),
  });
  const skips = defineCounter(registry, {
    name: 'replicaset_controller_stale_sync_skips_total',
    help: 'Syncs of ReplicaSets that were skipped because a cache had not seen the last write yet',
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

/** The age of each ready pod that was chosen, as a whole multiple of the age of the youngest ready one. */
export function computeAgeRatios(
  chosen: readonly Cached<Pod>[],
  among: readonly Cached<Pod>[],
  nowMs: number,
): readonly number[] {
  const ageMs = ({ metadata }: Cached<Pod>): number => nowMs - (parseTime(metadata.creationTimestamp) ?? nowMs);
  const youngestMs = Math.min(...among.filter(isPodReady).map(ageMs));
  // Creation times are whole seconds, and clocks differ: the youngest may seem to be from the future.
  return chosen.filter(isPodReady).map((pod) => Math.trunc(ageMs(pod) / Math.max(1, youngestMs)));
}
