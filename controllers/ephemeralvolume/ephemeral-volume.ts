import {
  keyOf,
  objectKey,
  PersistentVolumeClaims,
  Pods,
  type Cached,
  type ObjectKey,
  type PersistentVolumeClaim,
  type Pod,
} from '../../pkg/api/index.ts';
import {
  decided,
  PendingWrites,
  podsByClaim,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { applyPlan } from './apply.ts';
import { defineEphemeralVolumeMetrics } from './metrics.ts';
import { hasEphemeralVolumes, planClaims } from './plan.ts';

const name = 'ephemeral-volume-controller';
/** New claims enqueue nothing, so a pod that waits for one is looked at again this soon. */
const recheckMs = 50;

/** Creates the claims of ephemeral volumes. The garbage collector deletes them after their pods. */
export function createEphemeralVolumeController(context: ControllerContext, workers: number): Controller {
  const queue = context.queueFor('ephemeral_volume');
  const pods = context.informers.informerFor(Pods);
  const claims = context.informers.informerFor(PersistentVolumeClaims);
  const pending = new PendingWrites<PersistentVolumeClaim>(claims, context.clock);
  const deps = {
    client: context.clientFor(name),
    recorder: context.recorderFor('ephemeral_volume'),
    metrics: defineEphemeralVolumeMetrics(context.metrics),
    pending,
  };

  pods.addIndex(podsByClaim);
  const enqueue = (pod: Cached<Pod>): void => {
    if (hasEphemeralVolumes(pod)) queue.add(keyOf(pod));
  };
  const handlers = [
    // The volumes of a pod never change. After its end, what is kept for its key is dropped.
    pods.addHandler({ added: enqueue, deleted: enqueue }),
    claims.addHandler({ deleted: (claim) => pods.store.byIndex(podsByClaim, keyOf(claim)).forEach(enqueue) }),
  ];

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const pod = pods.store.get(key);
    if (pod === undefined) return {};
    const find = (claimName: string): Cached<PersistentVolumeClaim> | undefined =>
      claims.store.get(objectKey(pod.metadata.namespace, claimName));
    await applyPlan(decided(planClaims(pod, find)), pod, deps, signal);
    return {};
  }

  const care = { primary: pods.store, ownWrites: [pending], recheckMs };
  const work = { name, context, queue, reconcile, caches: [pods, claims, ...handlers], workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
