import {
  createSharedInformerFactory,
  type InformerMetricsSource,
  type SharedInformerFactory,
} from '../../informers/index.ts';
import { createDiscovery, type ClientBuilder, type Discovery, type WriteGuard } from '../client/index.ts';
import type { ControllerContext, FeatureGates, ReconcileObserver } from '../controller/index.ts';
import type { EventBroadcaster } from '../events/index.ts';
import type { Logger } from '../log/index.ts';
import type { Loop } from '../loop/index.ts';
import type { MetricsRegistry } from '../metrics/index.ts';
import type { Clock } from '../time/index.ts';
import { createWorkQueue } from '../../workqueue/index.ts';
import { scopeInformers } from './scoped-informers.ts';

export interface ContextDeps {
  readonly informerMetrics: InformerMetricsSource;
  readonly gates: FeatureGates;
  /** Requests per second of each controller's client. No limit if absent. */
  readonly qps?: number | undefined;
  /** Watch this namespace only. Default: all. */
  readonly namespace?: string | undefined;
  readonly resyncMs: number;
  readonly freezeCaches: boolean;
  readonly clients: ClientBuilder;
  readonly events: EventBroadcaster;
  readonly registry: MetricsRegistry;
  readonly reconciles: ReconcileObserver;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  /** Shows people what controllers do. */
  readonly loop?: Loop | undefined;
  /** Checked before every write of a controller; absent without leader election. */
  readonly guard?: WriteGuard | undefined;
}

/** The state that the controllers of one process share. */
export interface SharedContext {
  readonly informers: SharedInformerFactory;
  readonly discovery: Discovery;
  /** A context for one run of a controller. `discard` removes the handlers that the run added to informers. */
  createContext(controllerName: string): { readonly context: ControllerContext; discard(): void };
}

export function createSharedContext(deps: ContextDeps): SharedContext {
  const { clients, events, registry, clock, logger, random, guard, qps } = deps;
  const informers = createSharedInformerFactory({
    client: clients.processClientFor('shared-informers'),
    clock,
    logger,
    random,
    metrics: deps.informerMetrics,
    // Processes that started together must not all resync at the same time.
    resyncMs: deps.resyncMs * (1 + random()),
    namespace: deps.namespace,
    freeze: deps.freezeCaches,
  });
  const discovery = createDiscovery(clients.processClientFor('controller-discovery'));
  const clientFor: ControllerContext['clientFor'] = (controllerName, { qpsFactor = 1, asProcess = false } = {}) => {
    const own = qps === undefined ? { guard } : { guard, qps: qps * qpsFactor };
    return asProcess ? clients.processClientFor(controllerName, own) : clients.clientFor(controllerName, own);
  };
  return {
    informers,
    discovery,
    createContext(controllerName) {
      const scoped = scopeInformers(informers, deps.loop);
      const context: ControllerContext = {
        informers: scoped,
        discovery,
        gates: deps.gates,
        clock,
        metrics: registry,
        logger: logger.child({ controller: controllerName }),
        reconciles: deps.reconciles,
        serverAuthority: clients.serverAuthority,
        clientFor,
        queueFor: (name, queueOptions) =>
          createWorkQueue({ name, clock, metrics: registry, groupOf: namespaceOf, ...queueOptions }),
        recorderFor: (component) => events.recorderFor(component),
      };
      return { context, discard: () => scoped.removeHandlers() };
    },
  };
}

/** The namespace of keys like `namespace/name`; empty for all others. */
function namespaceOf(key: unknown): string {
  return typeof key === 'string' ? key.slice(0, Math.max(0, key.indexOf('/'))) : '';
}
