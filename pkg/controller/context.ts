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
   * account.
   */
  clientFor(controllerName: string, options?: ControllerClientOptions): Client;
  /** A rate-limiting queue. Its name labels its metrics and equals the name in the Go binary. */
  queueFor<K = ObjectKey>(name: string, options?: { readonly rateLimiter?: RateLimiter<K> }): WorkQueue<K>;
  /** Records events with this component as their source. */
  recorderFor(component: string): EventRecorder;
}

export interface ControllerClientOptions {
  /** Multiplies the configured rate limit. Default 1. */
  readonly qpsFactor?: number | undefined;
  /** Use the credentials of the process, never a service account of the controller. Default false. */
  readonly asProcess?: boolean | undefined;
}

/** A page that shows a controller's internal state. */
export interface DebugPage {
  readonly contentType: string;
  /** The page in parts. Each part is computed after the one before it has been sent. */
  parts(query: URLSearchParams): Iterable<string>;
}

/** A controller before it runs. A manager creates it when it leads, and again after a crash. */
export interface ControllerDefinition {
  /** In logs, metrics, health checks and user agents. No two controllers of a manager have the same. */
  readonly name: string;
  /** Registers handlers and indexes, and returns at once. Throws if the controller cannot work. */
  create(context: ControllerContext): Controller;
}

export interface Controller {
  readonly name: string;
  /** Served below `/debug/controllers/<name>/`, under these names. */
  readonly debugPages?: Readonly<Record<string, DebugPage>> | undefined;
  /** Runs until the signal aborts. When it resolves, no work of the controller is left running. */
  run(signal: AbortSignal): Promise<void>;
}
