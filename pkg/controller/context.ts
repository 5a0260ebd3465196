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

/** Everything that the process provides to its controllers. */
export interface ControllerContext {
  readonly informers: InformerFactory;
  readonly discovery: Discovery;
  readonly gates: FeatureGates;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
  readonly logger: Logger;
  readonly reconciles: ReconcileObserver;
  /** The CA certificates (PEM) that verify the API server; undefined if none are configured. */
  readonly serverAuthority: string | undefined;
  /**
   * A client with the controller's own user agent, rate limit and, with --use-service-account-credentials, service
   * account. `qpsFactor` multiplies the configured rate limit; default 1.
   */
  clientFor(controllerName: string, options?: { readonly qpsFactor?: number }): Client;
  /** A rate-limiting queue. Its name labels its metrics and equals the name in the Go binary. */
  queueFor<K = ObjectKey>(name: string, options?: { readonly rateLimiter?: RateLimiter<K> }): WorkQueue<K>;
  /** Records events with this component as their source. */
  recorderFor(component: string): EventRecorder;
}

/** A page that shows a controller's internal state. */
export interface DebugPage {
  readonly contentType: string;
  /** The page in parts. Each part is computed after the one before it has been sent. */
  parts(query: URLSearchParams): Iterable<string>;
}

export interface Controller {
  readonly name: string;
  /** Served below `/debug/controllers/<name>/`, under these names. */
  readonly debugPages?: Readonly<Record<string, DebugPage>> | undefined;
  /** Runs until the signal aborts. When it resolves, no work of the controller is left running. */
  run(signal: AbortSignal): Promise<void>;
}
