import { DeviceTaintRules, type DeviceTaintRule, type Kind, type ObjectKey } from '../../pkg/api/index.ts';
import {
  findServed,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
} from '../../pkg/controller/index.ts';
import { Evictions } from '../../pkg/evictions/index.ts';
import { createCaches } from './caches.ts';
import { addHandlers } from './handlers.ts';
import { defineDeviceTaintEvictionMetrics } from './metrics.ts';
import { createReconcile, isKeyOfPod } from './syncs.ts';

const name = 'device-taint-eviction-controller';
const events = {
  reason: 'DeviceTaintManagerEviction',
  marking: () => 'Marking for deletion',
  cancelling: () => 'Cancelling deletion',
  cancelsGone: false,
};

/** Deletes pods whose claims do not tolerate the NoExecute taints of their devices, or not any longer. */
export function createDeviceTaintEvictionController(context: ControllerContext, workers: number): Controller {
  const { discovery, gates, logger } = context;
  if (!gates.isEnabled('DRADeviceTaintRules')) return { name, run: wire(context, workers, undefined) };
  return {
    name,
    /** An informer of an API that is not served would keep the process from being ready. */
    async run(signal) {
      const kind = await findServed(discovery, [DeviceTaintRules], signal);
      if (kind === undefined) logger.info({}, 'DeviceTaintRules are not served: only drivers can taint devices');
      await wire(context, workers, kind)(signal);
    },
  };
}

function wire(context: ControllerContext, workers: number, kind: Kind<DeviceTaintRule> | undefined): Controller['run'] {
  const { clock } = context;
  const client = context.clientFor(name);
  const queue = context.queueFor(name);
  const caches = createCaches(context, kind);
  const { pods, claims, slices, rules } = caches;
  const evictions = new Evictions(context.recorderFor(name), events);
  const metrics = defineDeviceTaintEvictionMetrics(context.metrics);
  const pending = rules && new PendingWrites<DeviceTaintRule>(rules, clock);
  /** How many pods each rule has evicted since the start, by uid. */
  const evicted = new Map<string, number>();
  const handlers = addHandlers(caches, queue, { forget: (uid) => void evicted.delete(uid) });

  const reconcile = createReconcile({
    caches,
    client,
    clock,
    queue,
    evictions,
    evicted,
    metrics,
    pending,
    fieldManager: name,
  });

  const care = {
    primary: { get: (key: ObjectKey): unknown => (isKeyOfPod(key) ? pods : rules)?.store.get(key) },
    forget: (key: ObjectKey): void => evictions.forget(key),
    ownWrites: pending === undefined ? [] : [pending],
  };
  const work = {
    name,
    context,
    queue,
    workers,
    reconcile,
    caches: [pods, claims, slices, ...(rules === undefined ? [] : [rules]), ...handlers],
    ...care,
  };
  return (signal) => runWorkers(work, signal);
}
