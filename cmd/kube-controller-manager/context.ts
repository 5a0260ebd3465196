import {
  createSharedInformerFactory,
  createInformerMetrics,
  type SharedInformerFactory,
} from '../../informers/index.ts';
import { createDiscovery, type ClientBuilder, type Discovery, type WriteGuard } from '../../pkg/client/index.ts';
import type { ControllerContext, ReconcileObserver } from '../../pkg/controller/index.ts';
import type { EventBroadcaster } from '../../pkg/events/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { MetricsRegistry } from '../../pkg/metrics/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { createWorkQueue } from '../../workqueue/index.ts';
import { requestRate } from './connect.ts';
import type { Options } from './options.ts';
import { scopeInformers } from './scoped-informers.ts';

export interface ContextDeps {
  readonly options: Options;
  readonly clients: ClientBuilder;
  readonly events: EventBroadcaster;
  readonly registry: MetricsRegistry;
  readonly reconciles: ReconcileObserver;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  /** Asked before every write of a controller; absent without leader election. */
  readonly guard?: WriteGuard | undefined;
}

/** What the controllers of one process share. */
export interface SharedContext {
  readonly informers: SharedInformerFactory;
  readonly discovery: Discovery;
  /** A context for one run of a controller. `discard` removes the handlers that the run added to informers. */
  createContext(controllerName: string): { readonly context: ControllerContext; discard(): void };
}

/** These never use their own service account: other controllers need the tokens that they create. */
const actAsProcess: ReadonlySet<string> = new Set(['tokens-controller']);

export function createSharedContext(deps: ContextDeps): SharedContext {
  const { options, clients, events, registry, reconciles, clock, logger, random, guard } = deps;
  const informers = createSharedInformerFactory({
    client: clients.processClientFor('shared-informers'),
    clock,
    logger,
    random,
    metrics: createInformerMetrics(registry, 'kube-controller-manager'),
    // Processes that started together must not all resync at the same time.
    resyncMs: options.flags['min-resync-period'] * (1 + random()),
  });
  const discovery = createDiscovery(clients.processClientFor('controller-discovery'));
  const { qps } = requestRate(options);
  const clientFor: ControllerContext['clientFor'] = (name, { qpsFactor = 1 } = {}) => {
    const own = qps === undefined ? { guard } : { guard, qps: qps * qpsFactor };
    return actAsProcess.has(name) ? clients.processClientFor(name, own) : clients.clientFor(name, own);
  };
  return {
    informers,
    discovery,
    createContext(controllerName) {
      const scoped = scopeInformers(informers);
      const context: ControllerContext = {
        informers: scoped,
        discovery,
        gates: options.gates,
        clock,
        metrics: registry,
        logger: logger.child({ controller: controllerName }),
        reconciles,
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

/** Of keys like `namespace/name`; empty for all others. */
function namespaceOf(key: unknown): string {
  return typeof key === 'string' ? key.slice(0, Math.max(0, key.indexOf('/'))) : '';
}
