import { describe, expect, test } from 'vitest';
import { parsePrometheusText, sampleValue } from '../../test/support/prometheus-text.ts';
import { exponentialBuckets, formatBound } from './buckets.ts';
import { defineCounter, defineGauge, defineHistogram } from './families.ts';
import { createMetricsRegistry, MetricConflictError } from './registry.ts';

describe('formatBound', () => {
  const rows: readonly [number, string][] = [
    [0, '0'],
    [0.5, '0.5'],
    [64, '64'],
    [999_999, '999999'],
    [1_000_000, '1e+06'],
    [1_048_576, '1.048576e+06'],
    [124_416_000, '1.24416e+08'],
    [0.0001, '0.0001'],
    [0.00012345, '0.00012345'],
    [0.00001, '1e-05'],
    [1e-8, '1e-08'],
    [1e21, '1e+21'],
    [Infinity, '+Inf'],
  ];
  for (const [bound, text] of rows) {
    test(`writes ${bound} as Go does: ${text}`, () => expect(formatBound(bound)).toBe(text));
  }
});

describe('buckets', () => {
  test('exponential ones carry the rounding of step-by-step multiplication', () => {
    const bounds = exponentialBuckets(1e-8, 10, 10).map(formatBound);
    expect(bounds.join(' ')).toBe('1e-08 1e-07 1e-06 9.999999999999999e-06 9.999999999999999e-05 0.001 0.01 0.1 1 10');
  });
});

describe('metric families', () => {
  test('a series without labels exists from the start at zero', async () => {
    const registry = createMetricsRegistry();
    defineCounter(registry, { name: 'c_total', help: 'C.' });
    defineGauge(registry, { name: 'g', help: 'G.' });
    defineHistogram(registry, { name: 'h', help: 'H.', buckets: [1] });
    const families = parsePrometheusText(await registry.metrics());
    expect(sampleValue(families, 'c_total')).toBe(0);
    expect(sampleValue(families, 'g')).toBe(0);
    expect(sampleValue(families, 'h_bucket', { le: '1' })).toBe(0);
    expect(sampleValue(families, 'h_count')).toBe(0);
  });

  test('children with different labels have different values', async () => {
    const registry = createMetricsRegistry();
    const family = defineCounter(registry, { name: 'c_total', help: 'C.', labels: ['zone', 'kind'] });
    family.with({ zone: 'a', kind: 'x' }).inc();
    family.with({ zone: 'a', kind: 'x' }).inc(2);
    family.with({ zone: 'ax', kind: '' }).inc(5);
    const families = parsePrometheusText(await registry.metrics());
    expect(sampleValue(families, 'c_total', { zone: 'a', kind: 'x' })).toBe(3);
    expect(sampleValue(families, 'c_total', { zone: 'ax', kind: '' })).toBe(5);
  });

  test('label values with quotes, backslashes and line ends survive', async () => {
    const registry = createMetricsRegistry();
    const odd = 'a"b\\c\nd';
    defineGauge(registry, { name: 'g', help: 'Back\\slash\nand line.', labels: ['x'] })
      .with({ x: odd })
      .set(1);
    expect(sampleValue(parsePrometheusText(await registry.metrics()), 'g', { x: odd })).toBe(1);
  });

  test('an observation counts in every bucket whose bound it does not exceed', async () => {
    const registry = createMetricsRegistry();
    const histogram = defineHistogram(registry, { name: 'h', help: 'H.', buckets: [1, 2, 4] });
    for (const value of [0.5, 1, 1.5, 4, 100]) histogram.observe(value);
    const families = parsePrometheusText(await registry.metrics());
    const bucket = (le: string): number | undefined => sampleValue(families, 'h_bucket', { le });
    expect([bucket('1'), bucket('2'), bucket('4'), bucket('+Inf')]).toEqual([2, 3, 4, 5]);
    expect(sampleValue(families, 'h_sum')).toBe(107);
    expect(histogram.count).toBe(5);
  });

  test('a gauge can be read at each scrape', async () => {
    const registry = createMetricsRegistry();
    let value = 1;
    defineGauge(registry, { name: 'g', help: 'G.' }).readFrom(() => value);
    value = 7;
    expect(sampleValue(parsePrometheusText(await registry.metrics()), 'g')).toBe(7);
  });

  test('a removed child is not served', async () => {
    const registry = createMetricsRegistry();
    const zones = defineGauge(registry, { name: 'g', help: 'G.', labels: ['zone'] });
    zones.with({ zone: 'a' }).set(1);
    zones.with({ zone: 'b' }).set(1);
    zones.remove({ zone: 'a' });
    expect(
      parsePrometheusText(await registry.metrics())
        .get('g')
        ?.samples.map(({ labels }) => labels),
    ).toEqual([{ zone: 'b' }]);
  });

  test('defining the same family again returns the same series', () => {
    const registry = createMetricsRegistry();
    const spec = { name: 'c_total', help: 'C.', labels: ['x'] } as const;
    defineCounter(registry, spec).with({ x: '1' }).inc();
    expect(defineCounter(registry, spec).with({ x: '1' }).value).toBe(1);
  });

  const conflicts: readonly {
    name: string;
    define: (registry: ReturnType<typeof createMetricsRegistry>) => unknown;
  }[] = [
    { name: 'type', define: (registry) => defineGauge(registry, { name: 'h', help: 'H.', labels: ['x'] }) },
    { name: 'labels', define: (registry) => defineHistogram(registry, { name: 'h', help: 'H.', labels: ['y'] }) },
    {
      name: 'buckets',
      define: (registry) => defineHistogram(registry, { name: 'h', help: 'H.', labels: ['x'], buckets: [7] }),
    },
  ];
  for (const { name, define } of conflicts) {
    test(`a family with other ${name} cannot have the same name`, () => {
      const registry = createMetricsRegistry();
      defineHistogram(registry, { name: 'h', help: 'H.', labels: ['x'] });
      expect(() => define(registry)).toThrow(MetricConflictError);
    });
  }

  test('families are sorted by name', async () => {
    const registry = createMetricsRegistry();
    for (const name of ['b', 'c', 'a']) defineGauge(registry, { name, help: name });
    expect([...parsePrometheusText(await registry.metrics()).keys()]).toEqual(['a', 'b', 'c']);
  });

  test('buckets out of order are refused', () => {
    const registry = createMetricsRegistry();
    expect(() => defineHistogram(registry, { name: 'h', help: 'H.', buckets: [2, 1] })).toThrow(RangeError);
  });
});
