/** Told about every request, for metrics. Called on the hot path: count, and return. */
export interface RequestObserver {
  requestFinished(request: FinishedRequest): void;
  rateLimiterWaited?(wait: RateLimiterWait): void;
}

export interface FinishedRequest {
  /** The HTTP method. */
  readonly verb: string;
  readonly host: string;
  /** The HTTP status, or `<error>` when none came. */
  readonly code: string;
  /** Until the whole answer was there; of a watch, until it was open. */
  readonly durationMs: number;
  readonly requestBytes: number;
  /** Zero for a watch. */
  readonly responseBytes: number;
}

export interface RateLimiterWait {
  readonly verb: string;
  readonly host: string;
  readonly waitedMs: number;
}
