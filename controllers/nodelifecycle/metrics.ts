import {
  defineCounter,
  defineGauge,
  defineHistogram,
  exponentialBuckets,
  type MetricsRegistry,
} from '../../pkg/metrics/index.ts';

export type NodeMetrics = ReturnType<typeof defineNodeMetrics>;

export function defineNodeMetrics(registry: MetricsRegistry) {
  const labels = ['zone'] as const;
  return {
    zoneHealth: defineGauge(registry, {
      name: 'node_collector_zone_health',
      help: 'Percentage of healthy nodes per zone',
      labels,
    }),
    zoneSize: defineGauge(registry, { name: 'node_collector_zone_size', help: 'Registered nodes per zone', labels }),
    unhealthyNodes: defineGauge(registry, {
      name: 'node_collector_unhealthy_nodes_in_zone',
      help: 'Nodes that are not ready, per zone',
      labels,
    }),
    evictions: defineCounter(registry, {
      name: 'node_collector_evictions_total',
      help: 'Nodes whose pods were evicted, per zone',
      labels,
    }),
    nodeDuration: defineHistogram(registry, {
      name: 'node_collector_update_node_health_duration_seconds',
      help: 'Seconds to check the health of one node and to update it',
      buckets: exponentialBuckets(0.001, 4, 8),
    }),
    allNodesDuration: defineHistogram(registry, {
      name: 'node_collector_update_all_nodes_health_duration_seconds',
      help: 'Seconds to check the health of all nodes',
      buckets: exponentialBuckets(0.01, 4, 8),
    }),
  };
}
