import { describe, expect, test } from 'vitest';

import { Pods, type Pod } from '../../pkg/api/index.ts';
import { createMetricsRegistry } from '../../pkg/metrics/index.ts';
import { frozen, pod, runningStatus } from '../../test/support/builders.ts';
import { computeAgeRatios, createReplicaMetrics } from './metrics.ts';

const nowMs = Date.parse('2026-01-01T01:00:00Z');
const aged = (seconds: number, ready = true): Pod =>
  pod({
    name: `pod-${seconds}`,
    status: runningStatus({ ready }),
    metadata: { creationTimestamp: new Date(nowMs - seconds * 1000).toISOString() },
  });

describe('computeAgeRatios', () => {
  const rows = [
    { name: 'the ratio of the youngest pod is 1', chosen: [aged(10)], among: [aged(10), aged(30)], expected: [1] },
    { name: 'the ratio is rounded down', chosen: [aged(29)], among: [aged(10), aged(29)], expected: [2] },
    { name: 'pods that are not ready do not count', chosen: [aged(5, false)], among: [aged(10)], expected: [] },
    {
      name: 'pods that are not ready do not count as the youngest',
      chosen: [aged(40)],
      among: [aged(5, false), aged(20)],
      expected: [2],
    },
    {
      name: 'an age of zero causes no division by zero',
      chosen: [aged(1)],
      among: [aged(0)],
      expected: [1000],
    },
  ];
  for (const { name, chosen, among, expected } of rows) {
    test(name, () => expect(computeAgeRatios(frozen(chosen), frozen(among), nowMs)).toEqual(expected));
  }
});

describe('createReplicaMetrics', () => {
  test('has every series from the start, under the names of the Go binary', async () => {
    const registry = createMetricsRegistry();
    createReplicaMetrics(registry);
    const text = await registry.metrics();
    expect(text).toContain('replicaset_controller_sorting_deletion_age_ratio_bucket{le="0.25"} 0');
    expect(text).toContain('replicaset_controller_sorting_deletion_age_ratio_bucket{le="8"} 0');
    expect(text).toContain('replicaset_controller_stale_sync_skips_total{group="",resource="pods"} 0');
    expect(text).toContain('replicaset_controller_stale_sync_skips_total{group="apps",resource="replicasets"} 0');
  });

  test('counts skipped syncs and observes ratios', async () => {
    const registry = createMetricsRegistry();
    const metrics = createReplicaMetrics(registry);
    metrics.waitedFor(Pods);
    metrics.chose(frozen([aged(40)]), frozen([aged(20), aged(40)]), nowMs);
    const text = await registry.metrics();
    expect(text).toContain('stale_sync_skips_total{group="",resource="pods"} 1');
    expect(text).toContain('sorting_deletion_age_ratio_sum 2');
  });
});
