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

/** What was thrown, as an `Error`, whoever threw it. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
