import { apiErrorOf } from '../client/index.ts';
import { defineCounter, defineHistogram, exponentialBuckets, type MetricsRegistry } from '../metrics/index.ts';
import type { Clock } from '../time/index.ts';

/**
 * Counts and times the syncs of a publisher of CA certificates by the status code of the API server: 200 for success, 500
 * for an error that is not the server's.
 */
export function createSyncCodes(
  { clock, metrics }: { readonly clock: Pick<Clock, 'monotonic'>; readonly metrics: MetricsRegistry },
  { subsystem, subject }: { readonly subsystem: string; readonly subject: string },
): <R>(sync: () => Promise<R>) => Promise<R> {
  const total = defineCounter(metrics, {
    name: `${subsystem}_sync_total`,
    help: `Number of ${subject} syncs, by the status code of the API server.`,
    labels: ['code'],
  });
  const duration = defineHistogram(metrics, {
    name: `${subsystem}_sync_duration_seconds`,
    help: `Duration of ${subject} syncs, by the status code of the API server.`,
    labels: ['code'],
    buckets: exponentialBuckets(0.001, 2, 15),
  });
  total.with({ code: '200' });
  duration.with({ code: '200' });
  return async (sync) => {
    const startMs = clock.monotonic();
    const observe = (code: string): void => {
      total.with({ code }).inc();
      duration.with({ code }).observe((clock.monotonic() - startMs) / 1000);
    };
    try {
      const result = await sync();
      observe('200');
      return result;
    } catch (error) {
      observe(String(apiErrorOf(error)?.status || 500));
      throw error;
    }
  };
}
