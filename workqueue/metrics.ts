import { defineCounter, defineGauge, defineHistogram, exponentialBuckets } from '../pkg/metrics/index.ts';
import type { Counter, Histogram, MetricsRegistry } from '../pkg/metrics/index.ts';

/** The series of one queue, bound to its name. What can be computed from the queue is read only when scraped. */
export interface QueueMetrics {
  readonly adds: Counter;
  readonly retries: Counter;
  readonly queueSeconds: Histogram;
  readonly workSeconds: Histogram;
}

export interface QueueState {
  /** Keys that are to be worked on, those that a worker still holds included. */
  depth(): number;
  unfinishedSeconds(): number;
  longestRunningSeconds(): number;
}

const BUCKETS = exponentialBuckets(1e-8, 10, 10);
const LABELS = ['name'] as const;

/** A later queue of the same name goes on with the series of the former, and answers for the gauges. */
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

  gauge('depth', 'Keys that wait to be worked on.', () => state.depth());
  gauge(
    'unfinished_work_seconds',
    'Time spent so far on the keys being worked on, summed. Growth without end means stuck workers: its slope is their number.',
    () => state.unfinishedSeconds(),
  );
  gauge('longest_running_processor_seconds', 'Time spent so far on the key that has been worked on for longest.', () =>
    state.longestRunningSeconds(),
  );
  return {
    adds: counter('adds_total', 'Keys added, not counting those that were waiting already.'),
    retries: counter('retries_total', 'Keys added with a delay: retries and requests to look again later.'),
    queueSeconds: histogram('queue_duration_seconds', 'Time from the adding of a key until a worker takes it.'),
    workSeconds: histogram('work_duration_seconds', 'Time a worker takes for a key.'),
  };
}
