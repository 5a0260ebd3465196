import {
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  VolumeAttributesClasses,
  type Cached,
  type KubeObject,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type VolumeAttributesClass,
} from '../../pkg/api/index.ts';
import {
  applyProtection,
  enqueueProtected,
  PendingWrites,
  runWorkers,
  type Controller,
  type ControllerContext,
  type KeySink,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { defineIndex, type Handler } from '../../informers/index.ts';
import { classesOfClaim, classesOfVolume, releasedClasses } from './references.ts';

const name = 'volumeattributesclass-protection-controller';
/** The Go binary has one. Here an update that a webhook or a lost connection holds up must not hold up all others. */
const workers = 5;

const claimsByClass = defineIndex<PersistentVolumeClaim>('volume attributes class', classesOfClaim);
const volumesByClass = defineIndex<PersistentVolume>('volume attributes class', classesOfVolume);

/**
 * Keeps classes that are being deleted while claims or volumes refer to them. The caches alone decide, as in the Go binary:
 * a claim that has just been created may name a class that is gone.
 */
export function createAttributesClassProtection(context: ControllerContext): Controller {
  const queue = context.queueFor('vacprotection');
  const classes = context.informers.informerFor(VolumeAttributesClasses);
  const claims = context.informers.informerFor(PersistentVolumeClaims);
  const volumes = context.informers.informerFor(PersistentVolumes);
  const pending = new PendingWrites<VolumeAttributesClass>(classes, context.clock);
  claims.addIndex(claimsByClass);
  volumes.addIndex(volumesByClass);
  const protection = {
    kind: VolumeAttributesClasses,
    finalizer: 'kubernetes.io/vac-protection',
    client: context.clientFor(name),
    pending,
    isUsed: ({ metadata }: Cached<VolumeAttributesClass>): boolean =>
      volumes.store.countByIndex(volumesByClass, metadata.name) > 0 ||
      claims.store.countByIndex(claimsByClass, metadata.name) > 0,
  };
  const handlers = [
    classes.addHandler(enqueueProtected(queue, protection.finalizer)),
    claims.addHandler(enqueueReleased<PersistentVolumeClaim>(queue, classesOfClaim)),
    volumes.addHandler(enqueueReleased<PersistentVolume>(queue, classesOfVolume)),
  ];

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const found = classes.store.get(key);
    if (found !== undefined) await applyProtection(found, protection, signal);
    return {};
  }

  const care = { primary: classes.store, ownWrites: [pending] };
  const caches = [classes, claims, volumes, ...handlers];
  const work = { name, context, queue, reconcile, caches, workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}

/** Enqueues the classes that an object no longer refers to. */
function enqueueReleased<T extends KubeObject>(
  queue: KeySink,
  classesOf: (object: Cached<T>) => readonly string[],
): Handler<T> {
  const enqueue = (names: readonly string[]): void => names.forEach((name) => queue.add(objectKey(undefined, name)));
  return {
    updated: (before, after) => enqueue(releasedClasses(classesOf(before), classesOf(after))),
    deleted: (last) => enqueue(classesOf(last)),
  };
}
