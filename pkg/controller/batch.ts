/**
 * Calls `task` `count` times in batches that double while all calls succeed: 1, 2, 4 … After a batch with a failure, the
 * remaining calls are skipped: if a quota refuses one pod, it refuses all, and a thousand pods cost one failed request
 * instead of a thousand. Never throws: the caller needs both the count and the error.
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
 * Calls `task` for every item, at most `concurrency` at once. A failed item does not stop the others. The first error is
 * thrown after all calls have ended.
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

/** The thrown value as an `Error`. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
