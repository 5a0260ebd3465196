import { defineCounter, defineGauge, defineHistogram, exponentialBuckets } from '../pkg/metrics/index.ts';
import type { Counter, Histogram, MetricsRegistry } from '../pkg/metrics/index.ts';

/** The series of one queue, labelled with its name. Gauges read the state of the queue when they are scraped. */
export interface QueueMetrics {
  readonly adds: Counter;
  readonly retries: Counter;
  readonly queueSeconds: Histogram;
  readonly workSeconds: Histogram;
}

export interface QueueState {
  /** Keys to be processed, including those added again while a worker processes them. */
  depth(): number;
  unfinishedSeconds(): number;
  longestRunningSeconds(): number;
}

const BUCKETS = exponentialBuckets(1e-8, 10, 10);
const LABELS = ['name'] as const;

/** A second queue of the same name continues the counters of the first and replaces its gauges. */
export function defineQueueMetrics(registry: MetricsRegistry, name: string, state: QueueState): QueueMetrics {
  const gauge = (metric: string, help: string, read: () => number): void => {
    defineGauge(registry, { name: `workqueue_${metric}`, help, labels: LABELS })
      .with({ name })
      .readFrom(read);
  };
  const counter = (metric: string, help: string): Counter =>
    defineCounter(registry, { name: `workqueue_${metric}`, help, labels: LABELS }).with({ name });
  const histogram = (metric: string, help: string): Histogram =>
    defineHistogram(registry, { name: `workqueue_${metric}`, help, labels: LABELS, buckets: BUCKETS }).with({ name });

  gauge('depth', 'Keys that wait to be processed.', () => state.depth());
  gauge(
    'unfinished_work_seconds',
    'Time spent so far on the keys in progress, summed. Endless growth means stuck workers: its slope is their number.',
    () => state.unfinishedSeconds(),
  );
  gauge(
    'longest_running_processor_seconds',
    'Time spent so far on the key that has been in progress for longest.',
    () => state.longestRunningSeconds(),
  );
  return {
    adds: counter('adds_total', 'Keys added, not counting keys that were already waiting.'),
    retries: counter('retries_total', 'Keys added with a delay: retries and scheduled requeues.'),
    queueSeconds: histogram('queue_duration_seconds', 'Time a key waits in the queue before a worker takes it.'),
    workSeconds: histogram('work_duration_seconds', 'Time a worker takes to process a key.'),
  };
}
