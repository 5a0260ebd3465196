export { exponentialBuckets } from './buckets.ts';
export {
  createControllerMetrics,
  createLeaderElectionMetrics,
  createReconcileMetrics,
  recordBuildInfo,
  recordFeatures,
} from './component.ts';
export type {
  BuildInfo,
  ControllerMetrics,
  FeatureState,
  LeaderElectionMetrics,
  ReconcileMetrics,
  ReconcileOutcome,
} from './component.ts';
export { defineCounter, defineGauge, defineHistogram } from './families.ts';
export type { Counter, Gauge, Histogram, HistogramSpec, LabelledMetric, MetricSpec } from './families.ts';
export { defineProcessMetrics, defineRuntimeMetrics, runEventLoopLagMeter } from './process.ts';
export { createMetricsRegistry } from './registry.ts';
export type { MetricsRegistry } from './registry.ts';
export { createExecPluginMetrics, createRestClientMetrics } from './rest-client.ts';
export type { ExecPluginMetrics, RestClientMetrics } from './rest-client.ts';
