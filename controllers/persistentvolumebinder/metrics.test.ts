import { expect, test } from 'vitest';

import { PersistentVolumeClaims, PersistentVolumes } from '../../pkg/api/index.ts';
import { createMetricsRegistry } from '../../pkg/metrics/index.ts';
import { persistentVolume, persistentVolumeClaim } from '../../test/support/builders.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { countClaims, countVolumes, defineBinderMetrics, OperationTimes, timePlugin } from './metrics.ts';

async function linesOf(registry: ReturnType<typeof createMetricsRegistry>, prefix: string): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith(prefix));
}

test('volumes are counted by plugin, mode, class and phase', async () => {
  const registry = createMetricsRegistry();
  const informer = new FakeInformer(PersistentVolumes);
  informer.addHandler(countVolumes(defineBinderMetrics(registry)));
  const spec = { hostPath: { path: '/x' }, storageClassName: 'fast' };
  informer.set(persistentVolume({ name: 'a', spec, metadata: { resourceVersion: '1' } }));
  informer.set(persistentVolume({ name: 'b', spec, metadata: { resourceVersion: '2' } }));
  informer.set(persistentVolume({ name: 'a', spec, status: { phase: 'Bound' }, metadata: { resourceVersion: '3' } }));
  expect(await linesOf(registry, 'pv_collector_')).toEqual([
    'pv_collector_bound_pv_count{storage_class="fast"} 1',
    'pv_collector_total_pv_count{plugin_name="kubernetes.io/host-path",volume_mode="Filesystem"} 2',
    'pv_collector_unbound_pv_count{storage_class="fast"} 1',
  ]);
});

test('claims are counted by namespace, classes and phase', async () => {
  const registry = createMetricsRegistry();
  const informer = new FakeInformer(PersistentVolumeClaims);
  informer.addHandler(countClaims(defineBinderMetrics(registry)));
  const spec = { storageClassName: 'fast', volumeAttributesClassName: 'gold' };
  informer.set(persistentVolumeClaim({ name: 'a', spec, metadata: { resourceVersion: '1' } }));
  informer.set(
    persistentVolumeClaim({ name: 'a', spec, status: { phase: 'Bound' }, metadata: { resourceVersion: '2' } }),
  );
  expect(await linesOf(registry, 'pv_collector_')).toEqual([
    'pv_collector_bound_pvc_count{namespace="default",storage_class="fast",volume_attributes_class="gold"} 1',
  ]);
});

test('an operation is timed from its first start to its success, and its failures are counted under both names', async () => {
  const registry = createMetricsRegistry();
  let nowMs = 0;
  const times = new OperationTimes(defineBinderMetrics(registry), () => nowMs);
  times.failed('default/a');
  times.succeeded('default/a');
  times.begin('default/a', 'example.com', 'provision');
  times.failed('default/a');
  nowMs = 2000;
  times.begin('default/a', 'example.com', 'provision');
  times.succeeded('default/a');
  times.succeeded('default/a');
  times.begin('default/b', 'example.com', 'provision');
  times.abandon('default/b');
  times.succeeded('default/b');
  const labels = '{plugin_name="example.com",operation_name="provision"}';
  expect(await linesOf(registry, 'volume_operation_')).toEqual(
    expect.arrayContaining([
      `volume_operation_errors_total${labels} 1`,
      `volume_operation_total_errors${labels} 1`,
      `volume_operation_total_seconds_sum${labels} 2`,
      `volume_operation_total_seconds_count${labels} 1`,
    ]),
  );
});

test('calls of the plugin are timed with their outcome', async () => {
  const registry = createMetricsRegistry();
  const metrics = defineBinderMetrics(registry);
  const clock = { monotonic: () => 0 };
  await timePlugin(metrics, clock, 'volume_provision', async () => {});
  await expect(timePlugin(metrics, clock, 'volume_delete', () => Promise.reject(new Error('no')))).rejects.toThrow(
    'no',
  );
  const counts = await linesOf(registry, 'storage_operation_duration_seconds_count');
  const plugin = 'volume_plugin="kubernetes.io/host-path"';
  expect(counts).toEqual([
    `storage_operation_duration_seconds_count{${plugin},operation_name="volume_provision",status="success",migrated="false"} 1`,
    `storage_operation_duration_seconds_count{${plugin},operation_name="volume_delete",status="fail-unknown",migrated="false"} 1`,
  ]);
});
