import { Pods, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import { PendingWrites, type ControllerContext, type ReconcileResult, type Work } from '../../pkg/controller/index.ts';
import { applyTargetCleared, type TargetDeps } from './apply.ts';
import { enqueueStaleTargets } from './handlers.ts';
import { staleTargetAfterMs } from './stale-target.ts';

/** The loop that sets a DisruptionTarget condition to False if no deletion followed. */
export function staleTargetWork(
  context: ControllerContext,
  { client, name }: Pick<TargetDeps, 'client'> & { readonly name: string },
): Work {
  const { clock } = context;
  const queue = context.queueFor('stale_pod_disruption');
  const pods = context.informers.informerFor(Pods);
  const pending = new PendingWrites<Pod>(pods, clock);
  const handlers = pods.addHandler(enqueueStaleTargets(queue, clock));

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const pod = pods.store.get(key);
    const afterMs = pod && staleTargetAfterMs(pod, clock.now());
    if (pod === undefined || afterMs === undefined) return {};
    if (afterMs > 0) return { requeueAfterMs: afterMs };
    await applyTargetCleared(pod, { client, clock, pending }, signal);
    return {};
  }

  const care = { primary: pods.store, ownWrites: [pending] };
  return { name, context, queue, reconcile, caches: [pods, handlers], workers: 1, ...care };
}
