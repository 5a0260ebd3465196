import { expect, test } from 'vitest';

import { ControllerRevisions, keyOf, Pods } from '../../pkg/api/index.ts';
import { createMetricsRegistry } from '../../pkg/metrics/index.ts';
import { frozen, statefulSet } from '../../test/support/builders.ts';
import { createStatefulSetMetrics } from './metrics.ts';

const web = frozen(statefulSet({ name: 'web' }));

test('a set has its series until it is deleted', async () => {
  const registry = createMetricsRegistry();
  const metrics = createStatefulSetMetrics(registry);
  metrics.availability(web, 2, 1);
  const labels = 'statefulset_namespace="default",statefulset_name="web",pod_management_policy="OrderedReady"';
  const text = await registry.metrics();
  expect(text).toContain(`statefulset_controller_statefulset_max_unavailable{${labels}} 2`);
  expect(text).toContain(`statefulset_controller_statefulset_unavailable_replicas{${labels}} 1`);
  metrics.forget(keyOf(web));
  expect(await registry.metrics()).not.toContain('statefulset_name="web"');
});

test('skipped syncs are counted by the kind whose cache is stale, from zero on', async () => {
  const registry = createMetricsRegistry();
  const metrics = createStatefulSetMetrics(registry);
  metrics.waitedFor(Pods);
  metrics.waitedFor(ControllerRevisions); // the Go binary does not count these
  const text = await registry.metrics();
  expect(text).toContain('statefulset_controller_stale_sync_skips_total{group="",resource="pods"} 1');
  expect(text).toContain('statefulset_controller_stale_sync_skips_total{group="apps",resource="statefulsets"} 0');
  expect(text).not.toContain('controllerrevisions');
});
