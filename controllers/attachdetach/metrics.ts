import { defineCounter, defineGauge, defineHistogram, type MetricsRegistry } from '../../pkg/metrics/index.ts';
import { csiPlugin, type AttachableVolume } from '../../pkg/volumes/index.ts';

export type AttachDetachMetrics = ReturnType<typeof defineAttachDetachMetrics>;

export function defineAttachDetachMetrics(registry: MetricsRegistry) {
  const forced = defineCounter(registry, {
    name: 'attach_detach_controller_attachdetach_controller_forced_detaches',
    help: 'Volumes that were detached although their node did not say that it had unmounted them, by reason',
    labels: ['reason'],
  });
  const operations = defineHistogram(registry, {
    name: 'storage_operation_duration_seconds',
    help: 'Duration of storage operations in seconds',
    labels: ['volume_plugin', 'operation_name', 'status', 'migrated'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  });
  return {
    forced,
    /** The volumes of pods by node. */
    inUse: defineGauge(registry, {
      name: 'storage_count_attachable_volumes_in_use',
      help: 'Volumes of pods, by node and plugin',
      labels: ['node', 'volume_plugin'],
    }),
    total: defineGauge(registry, {
      name: 'attachdetach_controller_total_volumes',
      help: 'Volumes in the desired and in the actual state, by plugin',
      labels: ['plugin_name', 'state'],
    }),
    finished({ pluginName, operation, isMigrated = false, isSuccess, durationMs }: FinishedOperation): void {
      const status = isSuccess ? 'success' : 'fail-unknown';
      const labels = { volume_plugin: pluginName, operation_name: operation, status, migrated: String(isMigrated) };
      operations.with(labels).observe(durationMs / 1000);
    },
  };
}

interface FinishedOperation {
  readonly pluginName: string;
  readonly operation: 'volume_attach' | 'volume_detach' | 'verify_volumes_are_attached_per_node';
  readonly isMigrated?: boolean | undefined;
  readonly isSuccess: boolean;
  readonly durationMs: number;
}

export function csiPluginName(driver: string): string {
  return `${csiPlugin}:${driver}`;
}

/** `kubernetes.io/csi:ebs.csi.aws.com`; without the driver if only the name of the volume is known. */
export function pluginNameOf(volumeName: string, volume: AttachableVolume | undefined): string {
  if (volume !== undefined) return volume.csi === undefined ? volume.plugin : csiPluginName(volume.csi.driver);
  return volumeName.split('/').slice(0, 2).join('/');
}
