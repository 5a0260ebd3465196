import { expect, test } from 'vitest';

import { keyOf } from '../../pkg/api/index.ts';
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
