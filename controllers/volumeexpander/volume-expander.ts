import {
  keyOf,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Cached,
  type ObjectKey,
  type PersistentVolumeClaim,
} from '../../pkg/api/index.ts';
import {
  decided,
  PendingWrites,
  RefusedError,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { announceExpansion, readVolume } from './apply.ts';
import { hasGrown, planExpansion } from './expansion.ts';

const name = 'persistentvolume-expander-controller';
/** As many as in the Go binary, which has no flag for this either. */
const workers = 10;

/** Hands claims that ask for more than their volume has over to external resizers. No volume is expanded here. */
export function createVolumeExpander(context: ControllerContext): Controller {
  const client = context.clientFor('expand-controller');
  const queue = context.queueFor('volume_expand');
  const claims = context.informers.informerFor(PersistentVolumeClaims);
  const volumes = context.informers.informerFor(PersistentVolumes);
  const pending = new PendingWrites<PersistentVolumeClaim>(claims, context.clock);
  const deps = { client, pending, recorder: context.recorderFor('volume_expand') };

  const enqueue = (claim: Cached<PersistentVolumeClaim>): void => {
    if (claim.status?.phase === 'Bound') queue.add(keyOf(claim));
  };
  const handler = claims.addHandler({
    added: enqueue,
    updated(before, after) {
      if (hasGrown(before, after)) enqueue(after);
    },
    deleted: enqueue,
  });

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const claim = claims.store.get(key);
    if (claim === undefined) return {};
    const volumeName = claim.spec?.volumeName ?? '';
    const volume =
      volumes.store.get(objectKey(undefined, volumeName)) ?? (await readVolume(client, volumeName, signal));
    const expansion = decided(planExpansion(claim, volume));
    if (expansion.kind === 'unbound')
      throw new RefusedError(`PersistentVolume ${volumeName} is not bound to claim ${key}`);
    if (expansion.kind === 'external') await announceExpansion(claim, expansion, deps, signal);
    return {};
  }

  const care = { primary: claims.store, ownWrites: [pending] };
  const work = { name, context, queue, reconcile, caches: [claims, volumes, handler], workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
