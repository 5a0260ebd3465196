import { sleep, type Clock, type Timer } from '../../pkg/time/index.ts';

interface PendingTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that stands still until told otherwise. `now()` and `monotonic()` move together. */
export class FakeClock implements Clock {
  readonly #startMs: number;
  #elapsedMs = 0;
  #timers: PendingTimer[] = [];
  #created = 0;

  constructor(start: string | number = '2026-01-01T00:00:00Z') {
    this.#startMs = typeof start === 'number' ? start : Date.parse(start);
  }

  now(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(this, ms, signal);
  }

  setTimer(ms: number, callback: () => void): Timer {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, ms), order: this.#created++, callback };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((pending) => pending !== timer);
      },
    };
  }

  /** Timers that have neither fired nor been cancelled: a test can see that nothing is left behind. */
  get pendingTimers(): number {
    return this.#timers.length;
  }

  /** How far away the next timer is; undefined without one. */
  get nextTimerMs(): number | undefined {
    const next = this.#next();
    return next === undefined ? undefined : next.dueMs - this.#elapsedMs;
  }

  /**
   * Moves time on, firing what falls due in order, each timer at its own time. What a timer sets in motion runs before
   * the next one fires, so timers set by it within the span fire too.
   */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await settle();
    for (let timer = this.#next(); timer !== undefined && timer.dueMs <= untilMs; timer = this.#next()) {
      const due = timer;
      this.#timers = this.#timers.filter((pending) => pending !== due);
      this.#elapsedMs = Math.max(this.#elapsedMs, due.dueMs);
      due.callback();
      await settle();
    }
    this.#elapsedMs = untilMs;
  }

  #next(): PendingTimer | undefined {
    return this.#timers.reduce<PendingTimer | undefined>((first, timer) => {
      if (first === undefined || timer.dueMs < first.dueMs) return timer;
      return timer.dueMs === first.dueMs && timer.order < first.order ? timer : first;
    }, undefined);
  }
}

/** Lets every promise that can settle without time or network settle: `setImmediate` runs when no microtask is left. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
