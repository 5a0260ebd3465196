import { defineCounter, type MetricsRegistry } from '../../pkg/metrics/index.ts';

export type EphemeralVolumeMetrics = ReturnType<typeof defineEphemeralVolumeMetrics>;

export function defineEphemeralVolumeMetrics(registry: MetricsRegistry) {
  return {
    creates: defineCounter(registry, {
      name: 'ephemeral_volume_controller_create_total',
      help: 'Requests to create a PersistentVolumeClaim',
    }),
    failures: defineCounter(registry, {
      name: 'ephemeral_volume_controller_create_failures_total',
      help: 'Requests to create a PersistentVolumeClaim that failed',
    }),
  };
}
