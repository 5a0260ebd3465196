import type { Kind } from '../pkg/api/index.ts';
import { defineGauge, defineHistogram } from '../pkg/metrics/index.ts';
import type { MetricsRegistry } from '../pkg/metrics/index.ts';

/** What one informer reports about itself. */
export interface InformerMetrics {
  /** `read` tells how many changes have come from the server and are not in the store yet. */
  readQueuedItems(read: () => number): void;
  /** One change has been put into the store and handed to the handlers' buffers. Called for every change. */
  observeProcessing(seconds: number): void;
  /** The informer has ended, its series with it: kinds come and go. */
  remove(): void;
}

/** Gives the series of one kind; asked once per informer. */
export type InformerMetricsSource = (kind: Kind) => InformerMetrics;

const labels = ['name', 'group', 'version', 'resource'] as const;

/** The series under their names in the Go binary. `name` is that of the process. */
export function createInformerMetrics(registry: MetricsRegistry, name: string): InformerMetricsSource {
  const queuedItems = defineGauge(registry, {
    name: 'informer_queued_items',
    help: 'Changes that have come from the API server and are not in the cache yet.',
    labels,
  });
  const processing = defineHistogram(registry, {
    name: 'informer_processing_latency_seconds',
    help: 'Time to put one change into the cache and hand it to the handlers.',
    labels,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  return ({ group, version, resource }) => {
    const series = { name, group, version, resource };
    const gauge = queuedItems.with(series);
    const histogram = processing.with(series);
    return {
      readQueuedItems: (read) => gauge.readFrom(read),
      observeProcessing: (seconds) => histogram.observe(seconds),
      remove() {
        queuedItems.remove(series);
        processing.remove(series);
      },
    };
  };
}
