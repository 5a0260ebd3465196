import { setTimeout as sleep } from 'node:timers/promises';

/** The interval at which a condition is checked: short for the test, long enough for the server. */
const intervalMs = 50;

/**
 * Waits until `attempt` neither throws nor returns false, and returns its result. The only limit is the signal, which the
 * test framework aborts at its timeout. Then the error has the last failure.
 */
export async function until<T>(attempt: () => Promise<T | false>, signal: AbortSignal): Promise<T> {
  let last: unknown;
  for (;;) {
    try {
      const result = await attempt();
      if (result !== false) return result;
      last = new Error('it was false');
    } catch (error) {
      if (!signal.aborted) last = error; // an attempt that the abort has ended tells nothing
      last ??= error;
    }
    try {
      await sleep(intervalMs, undefined, { signal });
    } catch {
      throw new Error(`condition not met when the test ended: ${last instanceof Error ? last.message : String(last)}`, {
        cause: last,
      });
    }
  }
}
