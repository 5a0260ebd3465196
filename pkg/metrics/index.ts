export { createMetricsRegistry, MetricConflictError } from './registry.ts';
export type { MetricsRegistry } from './registry.ts';
export { defaultBuckets, exponentialBuckets, linearBuckets } from './buckets.ts';
export { defineCounter, defineGauge, defineHistogram } from './families.ts';
export type { Counter, Gauge, Histogram, HistogramSpec, LabelledMetric, MetricSpec } from './families.ts';
