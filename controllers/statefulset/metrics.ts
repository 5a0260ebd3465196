import {
  keyOf,
  PersistentVolumeClaims,
  Pods,
  StatefulSets,
  type Cached,
  type Kind,
  type ObjectKey,
  type StatefulSet,
} from '../../pkg/api/index.ts';
import { defineCounter, defineGauge, type MetricsRegistry } from '../../pkg/metrics/index.ts';

/** Called by the controller. */
export type StatefulSetMetrics = ReturnType<typeof createStatefulSetMetrics>;

const perSet = ['statefulset_namespace', 'statefulset_name', 'pod_management_policy'] as const;

/** The metrics, with the names and labels of the Go binary. */
export function createStatefulSetMetrics(registry: MetricsRegistry) {
  const maxUnavailable = defineGauge(registry, {
    name: 'statefulset_controller_statefulset_max_unavailable',
    help: 'Maximum number of unavailable pods allowed during StatefulSet rolling updates',
    labels: perSet,
  });
  const unavailable = defineGauge(registry, {
    name: 'statefulset_controller_statefulset_unavailable_replicas',
    help: 'Current number of unavailable pods in StatefulSet',
    labels: perSet,
  });
  const skips = defineCounter(registry, {
    name: 'statefulset_controller_stale_sync_skips_total',
    help: 'Skipped StatefulSet syncs: a cache had not observed the last write yet',
    labels: ['group', 'resource'],
  });
  const skipsOf = ({ group, resource }: Pick<Kind, 'group' | 'resource'>) => skips.with({ group, resource });
  const skipCounters = new Map(
    [Pods, PersistentVolumeClaims, StatefulSets].map((kind) => [kind.resource, skipsOf(kind)]),
  );
  const known = new Map<ObjectKey, SetLabels>();
  const forget = (key: ObjectKey): void => {
    const labels = known.get(key);
    if (labels === undefined) return;
    maxUnavailable.remove(labels);
    unavailable.remove(labels);
    known.delete(key);
  };
  return {
    /** How many pods of the set may be unavailable, and how many are. */
    availability(set: Cached<StatefulSet>, limit: number, lacking: number): void {
      const labels = labelsOf(set);
      maxUnavailable.with(labels).set(limit);
      unavailable.with(labels).set(lacking);
      known.set(keyOf(set), labels);
    },
    /** Removes the series of a deleted set. */
    forget,
    /** Counts a skipped sync. Like the Go binary, it does not count waits for revisions. */
    waitedFor: ({ resource }: Pick<Kind, 'resource'>): void => skipCounters.get(resource)?.inc(),
  };
}

type SetLabels = Record<(typeof perSet)[number], string>;

function labelsOf({ metadata, spec }: Cached<StatefulSet>): SetLabels {
  return {
    statefulset_namespace: metadata.namespace ?? '',
    statefulset_name: metadata.name,
    pod_management_policy: spec.podManagementPolicy ?? '',
  };
}
