import type { Clock } from '../time/index.ts';

/** A longer stretch would be felt by the lease, the probes and every reconcile that waits for an answer. */
const turnMs = 8;
/** Asking the clock costs more than most visits. */
const visitsPerLook = 32;

/** Visits every item, pausing for everything else that waits whenever it has been at it for a while. */
export async function forEachInTurns<T>(
  items: readonly T[],
  clock: Pick<Clock, 'monotonic'>,
  visit: (item: T) => void,
): Promise<void> {
  let untilMs = clock.monotonic() + turnMs;
  for (const [index, item] of items.entries()) {
    visit(item);
    if ((index + 1) % visitsPerLook !== 0 || clock.monotonic() < untilMs) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    untilMs = clock.monotonic() + turnMs;
  }
}
