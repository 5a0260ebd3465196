import { defineCounter, type MetricsRegistry } from '../../pkg/metrics/index.ts';

export type PodGcMetrics = ReturnType<typeof definePodGcMetrics>;

export function definePodGcMetrics(registry: MetricsRegistry) {
  const labels = ['namespace', 'reason'] as const;
  return {
    deletes: defineCounter(registry, {
      name: 'pod_gc_collector_force_delete_pods_total',
      help: 'Pods deleted without grace period, by namespace and reason',
      labels,
    }),
    errors: defineCounter(registry, {
      name: 'pod_gc_collector_force_delete_pod_errors_total',
      help: 'Errors while deleting pods without grace period, by namespace and reason',
      labels,
    }),
  };
}
