import { defineCounter, defineHistogram, exponentialBuckets, type MetricsRegistry } from '../../pkg/metrics/index.ts';

/** From one second to four and a half hours, as in Go. */
const buckets = exponentialBuckets(1, 2, 15);

export type ServiceLbMetrics = ReturnType<typeof defineServiceLbMetrics>;

export function defineServiceLbMetrics(registry: MetricsRegistry) {
  const name = (suffix: string): string => `service_controller_${suffix}`;
  return {
    updates: defineCounter(registry, {
      name: name('loadbalancer_sync_total'),
      help: 'Changes of the nodes of a load balancer.',
    }),
    nodeSyncErrors: defineCounter(registry, {
      name: name('nodesync_error_total'),
      help: 'Changes of the nodes of a load balancer that failed.',
    }),
    nodeSyncSeconds: defineHistogram(registry, {
      name: name('nodesync_latency_seconds'),
      help: 'Time to change the nodes of all load balancers.',
      buckets,
    }),
    updateSeconds: defineHistogram(registry, {
      name: name('update_loadbalancer_host_latency_seconds'),
      help: 'Time to change the nodes of one load balancer.',
      buckets,
    }),
  };
}
