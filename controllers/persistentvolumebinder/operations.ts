import type { Logger } from '../../pkg/log/index.ts';
import type { Clock } from '../../pkg/time/index.ts';

const firstDelayMs = 500;
/** A little more than two minutes, so that a wait that comes from here can be told. */
const longestDelayMs = 122_000;

interface Failure {
  readonly atMs: number;
  readonly delayMs: number;
}

/**
 * Work that takes longer than a sync may: each operation runs once at a time, beside the workers. After a failure its next
 * start has to wait, twice as long each time. The next sync starts it again: nothing does so by itself.
 */
export class Operations {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #logger: Logger;
  readonly #running = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, Failure>();
  #signal: AbortSignal | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Lets operations start. When the signal aborts they are aborted, and this resolves when they have ended. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await Promise.all(this.#running.values());
  }

  /** Starts the operation, unless it runs already or has to wait. */
  start(name: string, operation: (signal: AbortSignal) => Promise<void>): void {
    const signal = this.#signal;
    if (signal === undefined || signal.aborted || this.#running.has(name) || this.#isWaiting(name)) return;
    this.#running.set(
      name,
      this.#carryOut(name, () => operation(signal), signal),
    );
  }

  forget(name: string): void {
    this.#failures.delete(name);
  }

  async #carryOut(name: string, operation: () => Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await operation();
      this.#failures.delete(name);
    } catch (error) {
      if (signal.aborted) return;
      const delayMs = Math.min(longestDelayMs, 2 * (this.#failures.get(name)?.delayMs ?? firstDelayMs / 2));
      this.#failures.set(name, { atMs: this.#clock.monotonic(), delayMs });
      this.#logger.debug({ operation: name, err: error }, 'operation failed');
    } finally {
      this.#running.delete(name);
    }
  }

  #isWaiting(name: string): boolean {
    const failure = this.#failures.get(name);
    return failure !== undefined && this.#clock.monotonic() - failure.atMs <= failure.delayMs;
  }
}
