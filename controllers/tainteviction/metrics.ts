import { defineCounter, defineHistogram, type MetricsRegistry } from '../../pkg/metrics/index.ts';

export type TaintEvictionMetrics = ReturnType<typeof defineTaintEvictionMetrics>;

export function defineTaintEvictionMetrics(registry: MetricsRegistry) {
  return {
    deletions: defineCounter(registry, {
      name: 'taint_eviction_controller_pod_deletions_total',
      help: 'Pods deleted because of a NoExecute taint',
    }),
    latency: defineHistogram(registry, {
      name: 'taint_eviction_controller_pod_deletion_duration_seconds',
      help: 'Seconds from the time at which a pod had to be deleted because of a taint until it was deleted',
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240],
    }),
  };
}
