import type { Cached, Node, ObjectKey, Service } from '../../pkg/api/index.ts';
import { runBounded, type ReconcileResult } from '../../pkg/controller/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { updateBackends, type BalancerDeps } from './apply.ts';
import { areSameBackends } from './backends.ts';
import type { ServiceLbMetrics } from './metrics.ts';
import { wantsLoadBalancer } from './service-rules.ts';

/** A Service that may have a load balancer, as it was last synced. */
export interface Balanced {
  readonly service: Cached<Service>;
  /** The nodes that its load balancer was last given. */
  readonly backends: readonly Cached<Node>[];
}

export interface NodeSyncDeps extends BalancerDeps {
  readonly balanced: Map<ObjectKey, Balanced>;
  readonly metrics: ServiceLbMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Load balancers that are changed at the same time. */
  readonly workers: number;
  /** The whole Service is synced again. */
  readonly onFailed: (key: ObjectKey) => void;
}

/** Gives all load balancers the nodes, as far as they do not have them. */
export async function syncNodes(
  nodes: readonly Cached<Node>[],
  deps: NodeSyncDeps,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { balanced, metrics, clock } = deps;
  const seconds = (sinceMs: number): number => (clock.monotonic() - sinceMs) / 1000;
  const startMs = clock.monotonic();
  await runBounded(deps.workers, [...balanced.keys()], async (key) => {
    const known = balanced.get(key); // it may be gone by now
    if (known === undefined || signal.aborted) return;
    const { service, backends } = known;
    if (!wantsLoadBalancer(service) || areSameBackends(backends, nodes)) return;
    // Before the call: a failure syncs the whole Service, with the nodes of then.
    balanced.set(key, { service, backends: nodes });
    metrics.updates.inc();
    const updateMs = clock.monotonic();
    try {
      await updateBackends(service, nodes, deps, signal);
    } catch (error) {
      if (signal.aborted) return;
      metrics.nodeSyncErrors.inc();
      deps.logger.error({ err: error, object: key }, 'could not change the nodes of a load balancer');
      deps.onFailed(key);
    } finally {
      metrics.updateSeconds.observe(seconds(updateMs));
    }
  });
  metrics.nodeSyncSeconds.observe(seconds(startMs));
  return {};
}
