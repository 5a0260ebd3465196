import { defineHistogram, exponentialBuckets, type MetricsRegistry } from '../../pkg/metrics/index.ts';

/** From one second to 17 minutes, as in Go. */
const buckets = exponentialBuckets(1, 4, 6);

export type CloudNodeMetrics = ReturnType<typeof defineCloudNodeMetrics>;

export function defineCloudNodeMetrics(registry: MetricsRegistry) {
  return {
    taintRemovalSeconds: defineHistogram(registry, {
      name: 'node_controller_cloud_provider_taint_removal_delay_seconds',
      help: 'Time from the creation of a node until the cloud provider taint was removed.',
      buckets,
    }),
    initialSyncSeconds: defineHistogram(registry, {
      name: 'node_controller_initial_node_sync_delay_seconds',
      help: 'Time from the creation of a node until its first sync ended.',
      buckets,
    }),
  };
}
