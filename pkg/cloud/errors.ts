/** Another controller provides what was asked for. The caller does nothing. */
export class ImplementedElsewhereError extends Error {
  override readonly name = 'ImplementedElsewhereError';
  readonly reason = 'ImplementedElsewhere';
}

/** The cloud is not done yet. The caller asks again after this long, instead of backing off. */
export class RetryAfterError extends Error {
  override readonly name = 'RetryAfterError';
  readonly reason = 'RetryAfter';
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** When to ask again, if the error or one of its causes is a `RetryAfterError`. */
export function retryAfterOf(error: unknown): number | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof RetryAfterError) return each.retryAfterMs;
  }
  return undefined;
}
