import { parseTime } from '../api/index.ts';
import { sleep, type Clock, type Timer } from '../time/index.ts';

interface PendingTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that moves only with `advance`. `now()` and `monotonic()` move together. */
export class FakeClock implements Clock {
  readonly #startMs: number;
  #elapsedMs = 0;
  #timers: PendingTimer[] = [];
  #created = 0;

  constructor(start: string | number = '2026-01-01T00:00:00Z') {
    this.#startMs = typeof start === 'number' ? start : (parseTime(start) ?? 0);
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

  /** Timers that have neither fired nor been cancelled, to check that no timer is left. */
  get pendingTimers(): number {
    return this.#timers.length;
  }

  /** The time until the next timer. Undefined without one. */
  get nextTimerMs(): number | undefined {
    const next = this.#next();
    return next === undefined ? undefined : next.dueMs - this.#elapsedMs;
  }

  /**
   * Advances the time and fires the timers that are due in order, each at its own time. Work that a timer starts runs
   * before the next timer fires, so timers that it sets within the span fire too.
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

/** Waits for all promises that need neither time nor network: `setImmediate` runs after all microtasks. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
