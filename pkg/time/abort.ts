/** A signal was aborted with a reason that is not an `Error`. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError';
  readonly reason = 'Aborted';
}

/** The reason of an aborted signal as an `Error`. Call it only after the signal has aborted. */
export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new AbortedError('aborted', { cause: reason });
}
