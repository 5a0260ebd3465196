import type { ObjectKey } from '../api/index.ts';
import type { Client, Discovery } from '../client/index.ts';
import type { EventRecorder } from '../events/index.ts';
import type { InformerFactory } from '../../informers/index.ts';
import type { Logger } from '../log/index.ts';
import type { MetricsRegistry } from '../metrics/index.ts';
import type { Clock } from '../time/index.ts';
import type { RateLimiter, WorkQueue } from '../../workqueue/index.ts';
import type { FeatureGates } from './gates.ts';
import type { ReconcileObserver } from './reconcile.ts';

/** All that a controller may ask of the process it runs in. */
export interface ControllerContext {
  readonly informers: InformerFactory;
  readonly discovery: Discovery;
  readonly gates: FeatureGates;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
  readonly logger: Logger;
  readonly reconciles: ReconcileObserver;
  /** The certificates (PEM) by which the process knows the API server, if it was given any. */
  readonly serverAuthority: string | undefined;
  /**
   * A client with the controller's own user agent, rate limit and, if so configured, service account. `qpsFactor`: how
   * many times the configured rate it may have, if there is one; default 1.
   */
  clientFor(controllerName: string, options?: { readonly qpsFactor?: number }): Client;
  /** A rate-limiting queue; the name labels its metrics and is the Go binary's. */
  queueFor<K = ObjectKey>(name: string, options?: { readonly rateLimiter?: RateLimiter<K> }): WorkQueue<K>;
  /** Records events as this component. */
  recorderFor(component: string): EventRecorder;
}

/** For people who want to look inside. */
export interface DebugPage {
  readonly contentType: string;
  /** The page, piece by piece: each is made when the one before it has gone out. */
  parts(query: URLSearchParams): Iterable<string>;
}

export interface Controller {
  readonly name: string;
  /** Served below `/debug/controllers/<name>/`, by the rest of their path. */
  readonly debugPages?: Readonly<Record<string, DebugPage>> | undefined;
  /** Runs until the signal aborts; when it resolves, nothing of the controller is left running. */
  run(signal: AbortSignal): Promise<void>;
}
