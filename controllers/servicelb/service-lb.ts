import { Nodes, Services, type Cached, type ObjectKey, type Service } from '../../pkg/api/index.ts';
import type { LoadBalancers } from '../../pkg/cloud/index.ts';
import {
  PendingWrites,
  runAll,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { exponentialLimiter } from '../../workqueue/index.ts';
import { deleteOrphan, syncLoadBalancer, type BalancerDeps } from './apply.ts';
import { selectBackends } from './backends.ts';
import { enqueueBalanced, onBackendChange } from './handlers.ts';
import { defineServiceLbMetrics } from './metrics.ts';
import { syncNodes, type Balanced } from './node-sync.ts';
import { needsCleanup, wantsLoadBalancer } from './service-rules.ts';

export const serviceLbName = 'service-lb-controller';
const component = 'service-controller';
/** A cloud takes seconds to change a load balancer, and counts requests. */
const retryDelays = { baseMs: 5000, maxMs: 300_000 };

export interface ServiceLbOptions {
  readonly balancers: LoadBalancers;
  readonly clusterName: string;
  /** Services that may sync at the same time. */
  readonly workers: number;
}

export function createServiceLbController(context: ControllerContext, options: ServiceLbOptions): Controller {
  const queue = context.queueFor('service', { rateLimiter: exponentialLimiter<ObjectKey>(retryDelays) });
  const nodeQueue = context.queueFor('node', { rateLimiter: exponentialLimiter<'nodes'>(retryDelays) });
  const services = context.informers.informerFor(Services);
  const nodes = context.informers.informerFor(Nodes);
  const written = new PendingWrites(services, context.clock);
  const deps: BalancerDeps = {
    ...options,
    client: context.clientFor(component),
    recorder: context.recorderFor(component),
    onWritten: (key, resourceVersion) => written.wrote(key, resourceVersion),
  };
  const balanced = new Map<ObjectKey, Balanced>();
  const handlers = [
    services.addHandler(enqueueBalanced(queue, balanced)),
    nodes.addHandler(onBackendChange(() => nodeQueue.add('nodes'))),
  ];

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const service = services.store.get(key);
    const known = balanced.get(key);
    if (known !== undefined && known.service.metadata.uid !== service?.metadata.uid) {
      await deleteOrphan(known.service, deps, signal);
      balanced.delete(key);
    }
    return service === undefined ? {} : sync(key, service, signal);
  }

  async function sync(key: ObjectKey, service: Cached<Service>, signal: AbortSignal): Promise<ReconcileResult> {
    const backends = selectBackends(nodes.store.list());
    const isWanted = wantsLoadBalancer(service) && !needsCleanup(service);
    if (isWanted) balanced.set(key, { service, backends });
    const result = await syncLoadBalancer(service, { isWanted, backends }, deps, signal);
    if (!isWanted) balanced.delete(key);
    return result;
  }

  const work = { name: serviceLbName, context, caches: [services, nodes, ...handlers] };
  const serviceCare = { ownWrites: [written], primary: services.store };
  const serviceWork = { ...work, ...serviceCare, queue, reconcile, workers: options.workers };
  const metrics = defineServiceLbMetrics(context.metrics);
  const nodeSync = {
    ...context,
    ...deps,
    metrics,
    balanced,
    workers: options.workers,
    onFailed: (key: ObjectKey) => queue.add(key),
  };
  const nodeWork = {
    ...work,
    queue: nodeQueue,
    workers: 1,
    reconcile: (_: 'nodes', signal: AbortSignal) => syncNodes(selectBackends(nodes.store.list()), nodeSync, signal),
  };
  const loops = [
    (signal: AbortSignal) => runWorkers(serviceWork, signal),
    (signal: AbortSignal) => runWorkers(nodeWork, signal),
  ];
  return { name: serviceLbName, run: (signal) => runAll(loops, signal) };
}
