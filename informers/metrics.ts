import type { Kind } from '../pkg/api/index.ts';
import { defineGauge, defineHistogram } from '../pkg/metrics/index.ts';
import type { MetricsRegistry } from '../pkg/metrics/index.ts';

/** The metrics of one informer. */
export interface InformerMetrics {
  /** `read` returns the number of received changes that are not in the store yet. */
  readQueuedItems(read: () => number): void;
  /** Called for every change, after it is in the store and in the handlers' buffers. */
  observeProcessing(seconds: number): void;
  /** Removes the series of an informer that has ended. */
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
  // The informer of a kind and the one of its metadata alone have the same labels: their series are the sum.
  const readersOf = new Map<string, Set<() => number>>();
  return ({ group, version, resource }) => {
    const series = { name, group, version, resource };
    const id = `${group}/${version}/${resource}`;
    const readers = readersOf.get(id) ?? new Set();
    readersOf.set(id, readers);
    const histogram = processing.with(series);
    let own: () => number = () => 0;
    return {
      readQueuedItems(read) {
        own = read;
        readers.add(read);
        queuedItems.with(series).readFrom(() => readers.values().reduce((sum, each) => sum + each(), 0));
      },
      observeProcessing: (seconds) => histogram.observe(seconds),
      remove() {
        readers.delete(own);
        if (readers.size > 0) return;
        queuedItems.remove(series);
        processing.remove(series);
      },
    };
  };
}
