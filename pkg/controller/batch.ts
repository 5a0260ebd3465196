/**
 * Calls `task` `count` times in batches that double while all goes well: 1, 2, 4 … If whatever fails would fail for
 * all of them, as a quota does, a thousand tasks cost one failing request instead of a thousand. After a batch with a
 * failure the rest is skipped. Never throws: the caller needs both numbers.
 */
export async function slowStart(
  count: number,
  task: (index: number) => Promise<void>,
): Promise<{ readonly succeeded: number; readonly error: Error | undefined }> {
  let succeeded = 0;
  for (let started = 0, size = 1; started < count; size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - started) }, (_, offset) => task(started + offset));
    const results = await Promise.allSettled(batch);
    const failure = results.find((result) => result.status === 'rejected');
    succeeded += results.filter((result) => result.status === 'fulfilled').length;
    if (failure !== undefined) return { succeeded, error: asError(failure.reason) };
    started += batch.length;
  }
  return { succeeded, error: undefined };
}

/**
 * Calls `task` for every item, no more than `concurrency` at once. A failure holds up no other item; the first one is
 * thrown when all have been tried and nothing is left running.
 */
export async function runBounded<T>(
  concurrency: number,
  items: readonly T[],
  task: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const failures: Error[] = [];
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      try {
        await task(item);
      } catch (error) {
        failures.push(asError(error));
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  const [first] = failures;
  if (first !== undefined) throw first;
}

/** What was thrown, as an `Error`, whoever threw it. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
