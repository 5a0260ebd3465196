import { describe, expect, test } from 'vitest';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { Turns } from './turns.ts';
import type { Task } from './turns.ts';

/** Time passes as tasks work, and only then. */
class WorkClock extends FakeClock {
  workedMs = 0;
  override monotonic(): number {
    return this.workedMs;
  }
}

class Counter implements Task {
  done = 0;
  readonly #clock: WorkClock;
  readonly #items: number;
  readonly #itemMs: number;

  constructor(clock: WorkClock, items: number, itemMs: number) {
    this.#clock = clock;
    this.#items = items;
    this.#itemMs = itemMs;
  }

  run(hasTime: () => boolean): boolean {
    while (this.done < this.#items) {
      this.done++;
      this.#clock.workedMs += this.#itemMs;
      if (!hasTime()) break;
    }
    return this.done < this.#items;
  }
}

describe('turns', () => {
  test('let others have their say about every ten milliseconds', async () => {
    const clock = new WorkClock();
    const turns = new Turns(clock);
    const task = new Counter(clock, 1000, 1);
    turns.wake(task);
    expect(task.done).toBe(0);
    await settle();
    expect(task.done).toBe(10);
    await settle();
    expect(task.done).toBe(20);
    turns.cancel(task);
    await settle();
    expect(task.done).toBe(20);
  });

  test('give a quick task its share beside a slow one', async () => {
    const clock = new WorkClock();
    const turns = new Turns(clock);
    const [slow, quick] = [new Counter(clock, 1000, 5), new Counter(clock, 20, 0.1)];
    turns.wake(slow);
    turns.wake(quick);
    await settle();
    expect(quick.done).toBe(20);
    expect(slow.done).toBeLessThan(4);
    turns.cancel(slow);
  });

  test('run a task again that is woken after it has been cancelled, and only once', async () => {
    const clock = new WorkClock();
    const turns = new Turns(clock);
    const [task, other] = [new Counter(clock, 1, 0), new Counter(clock, 1, 0)];
    turns.wake(other);
    turns.wake(task);
    turns.cancel(task);
    turns.wake(task);
    await settle();
    expect([task.done, other.done]).toEqual([1, 1]);
  });
});
