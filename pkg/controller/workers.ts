import type { ObjectKey } from '../api/index.ts';
import { isConflict, isNamespaceTerminating } from '../client/index.ts';
import type { Logger } from '../log/index.ts';
import type { Clock } from '../time/index.ts';
import type { WorkQueue } from '../../workqueue/index.ts';
import type { ControllerContext } from './context.ts';
import { withKeyCare, type KeyCare } from './key-care.ts';
import { TerminalError, type Reconcile, type ReconcileOutcome } from './reconcile.ts';
import { finishBeforeStop } from './stopping.ts';

/** Whatever has to hold the whole initial list before work may begin. */
export interface Syncable {
  waitForSync(signal: AbortSignal): Promise<void>;
}

export interface Work<K = ObjectKey> extends KeyCare<K> {
  /** The controller's name, on log lines and metrics. */
  readonly name: string;
  readonly context: Pick<ControllerContext, 'logger' | 'clock' | 'reconciles'>;
  readonly queue: WorkQueue<K>;
  readonly reconcile: Reconcile<K>;
  readonly caches: readonly Syncable[];
  readonly workers: number;
}

/**
 * Runs the workers of one queue until the signal aborts. No key is lost: one that fails comes back with back-off, one
 * that changes while it is worked on comes back at once. A clean stop lets running reconciles finish.
 */
export async function runWorkers<K>(work: Work<K>, signal: AbortSignal): Promise<void> {
  const { context, queue } = work;
  const { logger } = context;
  await waitForCaches(work.caches, signal);
  if (signal.aborted) return;
  logger.info({ workers: work.workers }, 'caches synced, starting workers');
  const running = finishBeforeStop(signal, context.clock);
  try {
    const cared = { ...work, reconcile: withKeyCare(work.reconcile, work, context.clock) };
    const loops = Array.from({ length: work.workers }, () => runWorker(cared, logger, signal, running.signal));
    await Promise.all(loops);
  } finally {
    running.release();
    await queue.shutDown();
  }
}

async function waitForCaches(caches: readonly Syncable[], signal: AbortSignal): Promise<void> {
  try {
    await Promise.all(caches.map((cache) => cache.waitForSync(signal)));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function runWorker<K>(work: Work<K>, logger: Logger, stop: AbortSignal, abandon: AbortSignal): Promise<void> {
  const { context, name, queue, reconcile } = work;
  while (!stop.aborted) {
    const key = await queue.take(stop);
    if (key === undefined) return;
    const startMs = context.clock.monotonic();
    const finish = (outcome: ReconcileOutcome, error?: unknown): void => {
      const durationMs = context.clock.monotonic() - startMs;
      context.reconciles.finished(name, outcome, durationMs);
      const fields = { object: key, durationMs: Math.round(durationMs * 10) / 10, outcome };
      if (error === undefined) logger.debug(fields, 'reconciled');
      else if (outcome === 'conflict') logger.debug(fields, 'reconciled on an old state, trying again');
      else logger.error({ ...fields, err: error }, 'reconcile failed');
    };
    try {
      const { requeueAfterMs } = await reconcile(key, abandon);
      queue.forget(key);
      if (requeueAfterMs === undefined) finish('success');
      else {
        queue.addAfter(key, requeueAfterMs);
        finish('requeue_after');
      }
    } catch (error) {
      if (abandon.aborted) return;
      if (error instanceof TerminalError) {
        queue.forget(key);
        finish('terminal_error', error);
      } else if (isNamespaceTerminating(error)) {
        queue.forget(key); // it takes nothing new any more, and no retry can change that
        finish('success');
      } else {
        queue.addRateLimited(key);
        finish(isConflict(error) ? 'conflict' : 'error', error);
      }
    } finally {
      queue.done(key);
    }
  }
}

/**
 * Calls `tick` now, or once `caches` are there, and then every `periodMs`, one at a time, until the signal aborts. A
 * failing tick is logged.
 */
export async function runPeriodically(
  options: {
    readonly periodMs: number;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly caches?: readonly Syncable[] | undefined;
  },
  tick: (signal: AbortSignal) => Promise<void> | void,
  signal: AbortSignal,
): Promise<void> {
  const { periodMs, clock, logger, caches = [] } = options;
  await waitForCaches(caches, signal);
  while (!signal.aborted) {
    try {
      await tick(signal);
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'periodic task failed');
    }
    if (!(await pause(clock, periodMs, signal))) return;
  }
}

/** Waits; false when the signal ended the wait. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Runs several loops as one: when one fails, the others are stopped and its error is thrown once all have ended. */
export async function runAll(
  loops: readonly ((signal: AbortSignal) => Promise<void>)[],
  signal: AbortSignal,
): Promise<void> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  const results = await Promise.allSettled(
    loops.map(async (loop) => {
      try {
        await loop(either);
      } catch (error) {
        failure.abort(error);
        throw error;
      }
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined && !signal.aborted) throw failure.signal.reason;
}
