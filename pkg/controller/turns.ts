import type { Clock } from '../time/index.ts';

/** A longer stretch would be felt by the lease, the probes and every reconcile that waits for an answer. */
const turnMs = 8;
/** Asking the clock costs more than most visits. */
const visitsPerLook = 32;

/** Visits every item, pausing for everything else that waits whenever it has been at it for a while. */
export async function forEachInTurns<T>(
  items: Iterable<T>,
  clock: Pick<Clock, 'monotonic'>,
  visit: (item: T) => void,
): Promise<void> {
  let untilMs = clock.monotonic() + turnMs;
  let visits = 0;
  for (const item of items) {
    visit(item);
    if (++visits % visitsPerLook !== 0 || clock.monotonic() < untilMs) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    untilMs = clock.monotonic() + turnMs;
  }
}
