import { splitKey, type ObjectKey } from '../api/index.ts';
import { isConflict, terminatingNamespaceOf } from '../client/index.ts';
import type { Logger } from '../log/index.ts';
import { formatDuration, type Clock, type Timer } from '../time/index.ts';
import { InvalidDelayError, type WorkQueue } from '../../workqueue/index.ts';
import type { ControllerContext } from './context.ts';
import { withKeyCare, type KeyCare } from './key-care.ts';
import { isTerminal, RefusedError, type Reconcile, type ReconcileOutcome } from './reconcile.ts';
import { finishBeforeStop } from './stopping.ts';
import { runTraced } from './trace.ts';

/** The longest delay of the default rate limiter. */
const longestRetryMs = 1_000_000;
/** How often a controller says that it waits for its caches. Large ones take seconds. */
const remindMs = 60_000;

/** A cache or handler registration that must have received the initial list before workers start. */
export interface Syncable {
  waitForSync(signal: AbortSignal): Promise<void>;
}

export interface Work<K = ObjectKey> extends KeyCare<K> {
  /** The controller's name in logs and metrics. */
  readonly name: string;
  readonly context: Pick<ControllerContext, 'logger' | 'clock' | 'reconciles'>;
  readonly queue: WorkQueue<K>;
  readonly reconcile: Reconcile<K>;
  readonly caches: readonly Syncable[];
  readonly workers: number;
  /**
   * The namespace in which the key's object lives: once it is terminating, nothing can be created for the key, and nothing
   * needs to be. Default: that of an object key, or the key itself if it has none, because such keys name namespaces.
   */
  readonly namespaceOf?: ((key: K) => string | undefined) | undefined;
}

/**
 * Runs the workers of one queue until the signal aborts. No key is lost: a failed key is requeued with back-off, and a
 * key that is added during its reconcile runs again at once. A clean stop lets running reconciles finish. While one
 * namespace occupies all workers, a spare worker serves the other namespaces, one key at a time.
 */
export async function runWorkers<K>(work: Work<K>, signal: AbortSignal): Promise<void> {
  const { context, queue } = work;
  const { logger } = context;
  await waitForCaches(work.caches, context, signal);
  if (signal.aborted) return;
  logger.info({ workers: work.workers }, 'caches synced, starting workers');
  context.reconciles.working?.(work);
  const running = finishBeforeStop(signal, context.clock);
  try {
    const forget = (key: K): void => {
      queue.cancelDelay(key); // a Deployment checks its progress in ten minutes, a Job its age in a year
      work.forget?.(key);
    };
    const cared = { ...work, reconcile: withKeyCare(work.reconcile, { ...work, forget }, context.clock) };
    const until = { stop: signal, abandon: running.signal };
    const loops = Array.from({ length: work.workers }, () => runWorker(cared, () => queue.take(signal), until));
    await Promise.all([...loops, runWorker(cared, () => queue.takeSpare(work.workers, signal), until)]);
  } finally {
    running.release();
    await queue.shutDown();
  }
}

async function waitForCaches(
  caches: readonly Syncable[],
  { clock, logger }: Pick<ControllerContext, 'clock' | 'logger'>,
  signal: AbortSignal,
): Promise<void> {
  let timer: Timer | undefined;
  const remind = (): void => {
    logger.warn(
      { after: formatDuration(remindMs) },
      'still waiting for caches: are the informers started, and are their resources served and permitted?',
    );
    timer = clock.setTimer(remindMs, remind);
  };
  timer = clock.setTimer(remindMs, remind);
  try {
    await Promise.all(caches.map((cache) => cache.waitForSync(signal)));
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    timer.cancel();
  }
}

interface ReconcileEnd {
  readonly error?: unknown;
  readonly requeueAfterMs?: number | undefined;
}

async function runWorker<K>(
  work: Work<K>,
  take: () => Promise<K | undefined>,
  { stop, abandon }: { readonly stop: AbortSignal; readonly abandon: AbortSignal },
): Promise<void> {
  const { context, queue, reconcile } = work;
  const { logger, reconciles } = context;
  while (!stop.aborted) {
    const key = await take();
    if (key === undefined) return;
    const startMs = context.clock.monotonic();
    const trace = reconciles.begin?.(work, key);
    const finish = (outcome: ReconcileOutcome, { error, requeueAfterMs }: ReconcileEnd = {}): void => {
      const durationMs = context.clock.monotonic() - startMs;
      reconciles.finished({ work, key, outcome, durationMs, error, requeueAfterMs, trace });
      const fields = { object: key, durationMs: Math.round(durationMs * 10) / 10, outcome };
      if (error === undefined) logger.debug(fields, 'reconciled');
      else if (outcome === 'conflict') logger.debug(fields, 'conflict, requeued');
      else if (error instanceof RefusedError) logger.debug({ ...fields, err: error }, 'refused, requeued');
      else logger.error({ ...fields, err: error }, 'reconcile failed');
    };
    try {
      const syncing = trace === undefined ? reconcile(key, abandon) : runTraced(trace, () => reconcile(key, abandon));
      const { requeueAfterMs } = await syncing;
      if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs); // before `forget`: it may refuse the delay
      queue.forget(key);
      finish(requeueAfterMs === undefined ? 'success' : 'requeue_after', { requeueAfterMs });
    } catch (error) {
      if (abandon.aborted) return;
      if (isTerminal(error)) {
        queue.forget(key);
        finish('terminal_error', { error });
      } else if (isOwnNamespaceTerminating(work, key, error)) {
        queue.forget(key); // the key's object is deleted soon
        finish('success');
      } else {
        retry(queue, key);
        finish(isConflict(error) ? 'conflict' : 'error', { error });
      }
    } finally {
      queue.done(key);
    }
  }
}

/**
 * A terminating namespace accepts no new objects. If it is not the one of the key, the work in other namespaces is not
 * done yet, and a namespace of that name may be created again: the key is retried.
 */
function isOwnNamespaceTerminating<K>({ namespaceOf = namespaceOfKey }: Work<K>, key: K, error: unknown): boolean {
  const terminating = terminatingNamespaceOf(error);
  return terminating !== undefined && terminating === namespaceOf(key);
}

function namespaceOfKey(key: unknown): string | undefined {
  return typeof key === 'string' ? (splitKey(key as ObjectKey).namespace ?? key) : undefined;
}

/** Requeues with back-off. If a rate limiter returns a delay that is not finite, neither key nor worker may be lost. */
function retry<K>(queue: WorkQueue<K>, key: K): void {
  try {
    queue.addRateLimited(key);
  } catch (error) {
    if (!(error instanceof InvalidDelayError)) throw error;
    queue.addAfter(key, longestRetryMs);
  }
}

/**
 * Calls `tick` once `caches` are synced, and then again `periodMs` after each call ends, until the signal aborts. Errors
 * are logged.
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
  await waitForCaches(caches, { clock, logger }, signal);
  while (!signal.aborted) {
    try {
      await tick(signal);
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'periodic task failed');
    }
    if (!(await pause(clock, periodMs, signal))) return;
  }
}

/** Sleeps. False if the signal aborted meanwhile. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Runs several loops as one. If one fails, the others are stopped, and its error is thrown once all have ended. */
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
