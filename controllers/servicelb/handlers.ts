import { keyOf, type Cached, type Node, type ObjectKey, type Service } from '../../pkg/api/index.ts';
import type { KeySink } from '../../pkg/controller/index.ts';
import type { Handler } from '../../informers/index.ts';
import { changesBackends } from './backends.ts';
import { needsCleanup, needsUpdate, wantsLoadBalancer } from './service-rules.ts';

/** Enqueues Services that need a load balancer, or another one, or none any more. */
export function enqueueBalanced(queue: KeySink, balanced: ReadonlyMap<ObjectKey, unknown>): Handler<Service> {
  return {
    added(service) {
      if (wantsLoadBalancer(service) || needsCleanup(service)) queue.add(keyOf(service));
    },
    updated(before, after) {
      if (needsUpdate(before, after) || needsCleanup(after)) queue.add(keyOf(after));
    },
    // Usually the finalizer is removed after the load balancer, and there is nothing left to do.
    deleted(last) {
      if (balanced.has(keyOf(last))) queue.add(keyOf(last));
    },
  };
}

/** Calls back when the nodes of load balancers may change. */
export function onBackendChange(callback: () => void): Handler<Node> {
  return {
    added: callback,
    updated(before: Cached<Node>, after: Cached<Node>) {
      if (changesBackends(before, after)) callback();
    },
    deleted: callback,
  };
}
