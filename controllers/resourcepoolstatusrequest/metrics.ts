import { defineCounter, defineHistogram, exponentialBuckets, type MetricsRegistry } from '../../pkg/metrics/index.ts';

export type PoolStatusMetrics = ReturnType<typeof definePoolStatusMetrics>;

export function definePoolStatusMetrics(registry: MetricsRegistry) {
  const labels = ['driver_name'] as const;
  return {
    processed: defineCounter(registry, {
      name: 'resourcepoolstatusrequest_controller_requests_processed_total',
      help: 'ResourcePoolStatusRequests that were processed',
      labels,
    }),
    errors: defineCounter(registry, {
      name: 'resourcepoolstatusrequest_controller_request_processing_errors_total',
      help: 'Errors while ResourcePoolStatusRequests were processed',
      labels,
    }),
    duration: defineHistogram(registry, {
      name: 'resourcepoolstatusrequest_controller_request_processing_duration_seconds',
      help: 'Seconds that it took to process a ResourcePoolStatusRequest',
      labels,
      buckets: exponentialBuckets(0.001, 2, 15),
    }),
  };
}
