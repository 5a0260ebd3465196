/** Called for every request, for metrics. It is on the hot path, so it must be fast. */
export interface RequestObserver {
  requestFinished(request: FinishedRequest): void;
  /** The server refused a request: called after its `requestFinished`, and maybe after those of others. */
  requestRefused?(request: RefusedRequest): void;
  rateLimiterWaited?(wait: RateLimiterWait): void;
  /** A new client shares the connections of earlier clients, or has new connections. */
  connectionsTaken?(shared: boolean): void;
  /** A set of connections was closed. */
  connectionsClosed?(): void;
}

export interface RefusedRequest {
  readonly attempted: string;
  /** The message of the server. */
  readonly message: string;
}

export interface FinishedRequest {
  /** The verb and the object, as in error messages: `create pods default/web-1`. */
  readonly attempted: string;
  /** The HTTP method. */
  readonly verb: string;
  readonly host: string;
  /** The HTTP status, or `<error>` without a response. */
  readonly code: string;
  /** Until the end of the response, or for a watch until its headers. */
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

/** A client certificate from a credential plugin. */
export interface PluginCertificate {
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}
