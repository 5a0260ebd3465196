import { Buffer } from './buffer.ts';
import type { Clock } from '../pkg/time/index.ts';

/** Work that can be left off at any item and taken up again. Must not throw. */
export interface Task {
  /** Works while `hasTime`; returns whether something is left to do. */
  run(hasTime: () => boolean): boolean;
}

/** A longer stretch would be felt by the lease, the probes and every reconcile that waits for an answer. */
const turnMs = 10;
/** What one task gets of a turn while others wait, so that a slow handler slows nobody but itself. */
const shareMs = 2;

/**
 * Lets any number of informers and handlers work through what they were given, in turns of about ten milliseconds,
 * between which timers, sockets and promises have their say. Tasks take equal shares of the time, in the order in
 * which they were woken.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #queue = new Buffer<Task>();
  readonly #awake = new Set<Task>();
  #next: NodeJS.Immediate | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The task runs soon, never within this call. Waking one that is awake changes nothing. */
  wake(task: Task): void {
    if (this.#awake.has(task)) return;
    this.#awake.add(task);
    this.#queue.push(task);
    this.#next ??= setImmediate(this.#turn);
  }

  /** The task does not run again unless it is woken. */
  cancel(task: Task): void {
    this.#awake.delete(task);
    if (this.#awake.size > 0 || this.#next === undefined) return;
    clearImmediate(this.#next);
    this.#next = undefined;
    this.#queue.clear();
  }

  readonly #turn = (): void => {
    this.#next = undefined;
    const endMs = this.#clock.monotonic() + turnMs;
    for (let nowMs = this.#clock.monotonic(); nowMs < endMs; nowMs = this.#clock.monotonic()) {
      const task = this.#queue.shift();
      if (task === undefined) break;
      this.#runShare(task, Math.min(nowMs + shareMs, endMs));
    }
    if (this.#queue.length > 0) this.#next ??= setImmediate(this.#turn);
  };

  #runShare(task: Task, untilMs: number): void {
    // Cancelled while it waited here. If it has been woken since, it waits here once more, further back.
    if (!this.#awake.delete(task)) return;
    if (task.run(() => this.#clock.monotonic() < untilMs)) this.wake(task);
  }
}
