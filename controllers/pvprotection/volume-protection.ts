import { PersistentVolumes, type Cached, type ObjectKey, type PersistentVolume } from '../../pkg/api/index.ts';
import {
  applyProtection,
  enqueueProtected,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';

const name = 'persistentvolume-protection-controller';
/** The Go binary has one. Here an update that a webhook or a lost connection holds up must not hold up all others. */
const workers = 5;

/** Keeps volumes that are being deleted while they are bound to a claim. The binder writes whether they are. */
export function createVolumeProtection(context: ControllerContext): Controller {
  const queue = context.queueFor('pvprotection');
  const volumes = context.informers.informerFor(PersistentVolumes);
  const pending = new PendingWrites<PersistentVolume>(volumes, context.clock);
  const protection = {
    kind: PersistentVolumes,
    finalizer: 'kubernetes.io/pv-protection',
    client: context.clientFor('pv-protection-controller'),
    pending,
    isUsed: ({ status }: Cached<PersistentVolume>): boolean => status?.phase === 'Bound',
  };
  const handlers = volumes.addHandler(enqueueProtected(queue, protection.finalizer));

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const volume = volumes.store.get(key);
    if (volume !== undefined) await applyProtection(volume, protection, signal);
    return {};
  }

  const care = { primary: volumes.store, ownWrites: [pending] };
  const work = { name, context, queue, reconcile, caches: [volumes, handlers], workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
