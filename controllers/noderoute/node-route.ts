import { isEqualJson, Nodes, type Cached, type Node } from '../../pkg/api/index.ts';
import type { Routes } from '../../pkg/cloud/index.ts';
import {
  runPeriodically,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import type { Cidr } from '../../pkg/ip/index.ts';
import { defineCounter } from '../../pkg/metrics/index.ts';
import { bucketLimiter, type RateLimiter } from '../../workqueue/index.ts';
import { applyRoutes } from './apply.ts';
import { planRoutes } from './plan.ts';

export const nodeRouteName = 'node-route-controller';

export interface NodeRouteOptions {
  readonly routes: Routes;
  readonly clusterName: string;
  readonly clusterCidrs: readonly Cidr[];
  /** How often all routes are reconciled. */
  readonly periodMs: number;
  /** Reconcile when nodes change, instead of periodically. */
  readonly watchBased: boolean;
}

/** Every reconcile lists all routes of the cluster, so nodes that change often must not start one each. */
const minIntervalMs = 10_000;

export function createNodeRouteController(context: ControllerContext, options: NodeRouteOptions): Controller {
  const { clock, logger } = context;
  const nodes = context.informers.informerFor(Nodes);
  const client = context.clientFor('route-controller');
  const deps = { ...options, client, recorder: context.recorderFor('route_controller'), clock, logger };
  const syncs = defineCounter(context.metrics, {
    name: 'route_controller_route_sync_total',
    help: 'Reconciles of the routes of all nodes.',
  });

  async function reconcileAll(signal: AbortSignal): Promise<ReconcileResult> {
    syncs.inc();
    const routes = await options.routes.list(options.clusterName, signal);
    const plan = planRoutes({ nodes: nodes.store.list(), routes, clusterCidrs: options.clusterCidrs });
    await applyRoutes(plan, deps, signal);
    return {};
  }

  if (!options.watchBased) {
    const pace = { clock, logger, caches: [nodes], periodMs: options.periodMs };
    return {
      name: nodeRouteName,
      run: (signal) => runPeriodically(pace, async (inner) => void (await reconcileAll(inner)), signal),
    };
  }
  const queue = context.queueFor('Routes', { rateLimiter: atMostEvery(minIntervalMs) });
  const enqueue = (): void => queue.addRateLimited('routes');
  const handler = nodes.addHandler({
    added: enqueue,
    updated: (before, after) => {
      if (changesRoutes(before, after)) enqueue();
    },
    deleted: enqueue,
  });
  const reconcile = (_: 'routes', signal: AbortSignal): Promise<ReconcileResult> => reconcileAll(signal);
  const work = { name: nodeRouteName, context, queue, reconcile, caches: [nodes, handler], workers: 1 };
  return { name: nodeRouteName, run: (signal) => runWorkers(work, signal) };
}

/** A resync, which shows the same node twice, also corrects routes that somebody else has changed. */
function changesRoutes(before: Cached<Node>, after: Cached<Node>): boolean {
  return (
    before.metadata.resourceVersion === after.metadata.resourceVersion ||
    !isEqualJson(before.spec.podCIDRs, after.spec.podCIDRs) ||
    !isEqualJson(before.status?.addresses, after.status?.addresses)
  );
}

/** The first reconcile runs at once, and each further one at most this long after its cause. */
function atMostEvery(intervalMs: number): RateLimiter<'routes'> {
  const bucket = bucketLimiter<'routes'>({ qps: 1000 / intervalMs, burst: 1 });
  return { ...bucket, nextDelayMs: (key, nowMs) => Math.min(intervalMs, bucket.nextDelayMs(key, nowMs)) };
}
