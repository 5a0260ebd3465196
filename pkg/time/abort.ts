/** The reason of an abort that is no failure: a program that stops, or a client that has disconnected. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError';
  readonly reason = 'Aborted';
}

/** The reason of an aborted signal as an `Error`. Call it only after the signal has aborted. */
export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new AbortedError('aborted', { cause: reason });
}
