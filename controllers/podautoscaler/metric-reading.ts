/** The value of a metric for one pod, in thousandths. */
export interface PodMetric {
  readonly timestampMs: number;
  /** The time over which the metric was measured. */
  readonly windowMs: number;
  readonly value: bigint;
}

/** By the name of the pod. */
export type PodMetrics = ReadonlyMap<string, PodMetric>;

/** What a metrics API answered for one metric of an autoscaler. Values are in thousandths. */
export type MetricReading =
  | { readonly kind: 'pods'; readonly metrics: PodMetrics }
  | { readonly kind: 'object'; readonly value: bigint }
  | { readonly kind: 'external'; readonly values: readonly bigint[] }
  /** `message` is part of a condition and of events. */
  | { readonly kind: 'failed'; readonly message: string }
  /** The metrics API was not asked: the selector of the metric is invalid. */
  | { readonly kind: 'invalid selector'; readonly message: string };

export interface TimedReading {
  readonly reading: MetricReading;
  readonly durationMs: number;
}

/** A metric from which no number of replicas can be computed. The message is part of a condition and of events. */
export class MetricError extends Error {
  override readonly name = 'MetricError';
  readonly reason = 'UnusableMetric';
}
