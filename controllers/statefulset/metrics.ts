import { keyOf, type Cached, type ObjectKey, type StatefulSet } from '../../pkg/api/index.ts';
import { defineGauge, type MetricsRegistry } from '../../pkg/metrics/index.ts';

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
  const known = new Map<ObjectKey, SetLabels>();
  const forget = (key: ObjectKey): void => {
    const labels = known.get(key);
    if (labels === undefined) return;
    maxUnavailable.remove(labels);
    unavailable.remove(labels);
    known.delete(key);
  };
  return {
    /** How many pods of the set may be unavailable, and how many are, if the sync has counted them. */
    availability(set: Cached<StatefulSet>, limit: number, lacking: number | undefined): void {
      const labels = labelsOf(set);
      maxUnavailable.with(labels).set(limit);
      if (lacking !== undefined) unavailable.with(labels).set(lacking);
      known.set(keyOf(set), labels);
    },
    /** Removes the series of a deleted set. */
    forget,
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
