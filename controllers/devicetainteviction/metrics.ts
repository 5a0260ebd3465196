import { defineCounter, defineHistogram, type MetricsRegistry } from '../../pkg/metrics/index.ts';

export type DeviceTaintEvictionMetrics = ReturnType<typeof defineDeviceTaintEvictionMetrics>;

export function defineDeviceTaintEvictionMetrics(registry: MetricsRegistry) {
  return {
    deletions: defineCounter(registry, {
      name: 'device_taint_eviction_controller_pod_deletions_total',
      help: 'Pods deleted because of a taint of a device',
    }),
    latency: defineHistogram(registry, {
      name: 'device_taint_eviction_controller_pod_deletion_duration_seconds',
      help: 'Seconds from the time at which a pod had to be deleted because of a device taint until it was deleted',
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240],
    }),
  };
}
