import type { ObjectKey } from '../../pkg/api/index.ts';
import { asError, type Reconcile, type ReconcileResult } from '../../pkg/controller/index.ts';
import type { Clock } from '../../pkg/time/index.ts';

/**
 * How long a worker waits for the first slow sync; metrics APIs usually answer within milliseconds. It waits less the more
 * syncs are late already: a thousand autoscalers of an API that does not answer then take the workers three seconds.
 */
const patienceMs = 2000;

type Result = { readonly value: ReconcileResult } | { readonly error: Error };

interface Running {
  readonly ended: Promise<void>;
  readonly abandon: AbortController;
  result: Result | undefined;
  isLate: boolean;
}

/**
 * Frees the worker of a sync that waits for a slow metrics API: the sync goes on by itself, and the worker serves the
 * other autoscalers. The API server waits for an aggregated API up to a minute, so a few autoscalers of a slow one would
 * otherwise occupy all workers. A key never has two syncs at the same time.
 */
export class LateSyncs {
  readonly #sync: Reconcile;
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #running = new Map<ObjectKey, Running>();
  #late = 0;

  constructor(sync: Reconcile, { clock, periodMs }: { readonly clock: Clock; readonly periodMs: number }) {
    this.#sync = sync;
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  /** Waits for the sync of a key for a while. The error of a sync that ended later is thrown by the next call. */
  async reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const late = this.#running.get(key);
    if (late?.result === undefined) {
      const running = late ?? this.#start(key, signal);
      if (late === undefined) await this.#wait(running);
      if (running.result === undefined) return { requeueAfterMs: this.#periodMs };
      return this.#finish(key, running.result);
    }
    this.#finish(key, late.result);
    return this.reconcile(key, signal);
  }

  /** The object of a key is gone: its sync is of no use any more. */
  forget(key: ObjectKey): void {
    const running = this.#running.get(key);
    if (running?.result === undefined) running?.abandon.abort();
    else this.#running.delete(key);
  }

  /** Stops the syncs that still run, and waits until they have ended. */
  async stop(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { abandon } of running) abandon.abort();
    await Promise.all(running.map(({ ended }) => ended));
    this.#running.clear();
  }

  #start(key: ObjectKey, signal: AbortSignal): Running {
    const abandon = new AbortController();
    const passOn = (): void => abandon.abort(signal.reason);
    signal.addEventListener('abort', passOn, { once: true });
    const end = (result: Result): void => {
      signal.removeEventListener('abort', passOn);
      running.result = result;
      if (running.isLate) this.#late -= 1;
      if (abandon.signal.aborted) this.#running.delete(key);
    };
    const ended = this.#sync(key, abandon.signal).then(
      (value) => end({ value }),
      (error: unknown) => end({ error: asError(error) }),
    );
    const running: Running = { ended, abandon, result: undefined, isLate: false };
    this.#running.set(key, running);
    return running;
  }

  async #wait(running: Running): Promise<void> {
    const patience = Promise.withResolvers<void>();
    const timer = this.#clock.setTimer(patienceMs / (1 + this.#late), patience.resolve);
    try {
      await Promise.race([running.ended, patience.promise]);
    } finally {
      timer.cancel();
    }
    if (running.result !== undefined) return;
    running.isLate = true;
    this.#late += 1;
  }

  #finish(key: ObjectKey, result: Result): ReconcileResult {
    this.#running.delete(key);
    if ('error' in result) throw result.error;
    return result.value;
  }
}
