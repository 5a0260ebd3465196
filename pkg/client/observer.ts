/** Told about every request, for metrics. Called on the hot path: count, and return. */
export interface RequestObserver {
  requestFinished(request: FinishedRequest): void;
  rateLimiterWaited?(wait: RateLimiterWait): void;
  /** A client was given connections: shared with clients before it, or the first on new ones. */
  connectionsTaken?(shared: boolean): void;
  /** Connections that clients shared are no more. */
  connectionsClosed?(): void;
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

/** A client certificate that a credential plugin has given. */
export interface PluginCertificate {
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}
