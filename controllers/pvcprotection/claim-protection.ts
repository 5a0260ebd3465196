import {
  isBeingDeleted,
  keyOf,
  PersistentVolumeClaims,
  Pods,
  type Cached,
  type ObjectKey,
  type PersistentVolumeClaim,
} from '../../pkg/api/index.ts';
import {
  applyProtection,
  decided,
  enqueueProtected,
  finalizerChange,
  PendingWrites,
  podsByClaim,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { applyCondition } from './apply.ts';
import { enqueueClaimsOfPods, enqueueUntracked } from './handlers.ts';
import { LivePods } from './live-pods.ts';
import { isSaidUnused, planCondition } from './unused-since.ts';
import { isUsedBy } from './usage.ts';

const name = 'persistentvolumeclaim-protection-controller';
const finalizer = 'kubernetes.io/pvc-protection';
/** The Go binary has one. Here an update that a webhook or a lost connection holds up must not hold up all others. */
const workers = 5;
/** The server has a pod that uses the claim, and the cache does not yet: it soon will. */
const behind: ReconcileResult = { requeueAfterMs: 1000 };

/** Keeps claims that are being deleted while pods use them. With its gate, also says which claims no pod uses. */
export function createClaimProtection(context: ControllerContext): Controller {
  const client = context.clientFor('pvc-protection-controller');
  const queue = context.queueFor('pvcprotection');
  const tracksUnused = context.gates.isEnabled('PersistentVolumeClaimUnusedSinceTime');
  const claims = context.informers.informerFor(PersistentVolumeClaims);
  const pods = context.informers.informerFor(Pods);
  const pending = new PendingWrites<PersistentVolumeClaim>(claims, context.clock);
  const live = new LivePods(client, claims.store, (claim) =>
    isBeingDeleted(claim.metadata)
      ? finalizerChange(claim, finalizer) === 'remove'
      : tracksUnused && isSaidUnused(claim) !== true,
  );

  pods.addIndex(podsByClaim);
  const handlers = [
    claims.addHandler(enqueueProtected(queue, finalizer)),
    ...(tracksUnused ? [claims.addHandler(enqueueUntracked({ queue }))] : []),
    pods.addHandler(enqueueClaimsOfPods({ queue, claims: claims.store, tracksUnused })),
  ];

  const isUsedInCache = (claim: Cached<PersistentVolumeClaim>): boolean =>
    pods.store.byIndex(podsByClaim, keyOf(claim)).some((pod) => isUsedBy(pod, claim));

  const protection = {
    kind: PersistentVolumeClaims,
    finalizer,
    client,
    pending,
    isUsed: async (claim: Cached<PersistentVolumeClaim>, signal: AbortSignal): Promise<boolean> =>
      isUsedInCache(claim) || (await live.isUsed(claim, signal)),
  };

  /** Undefined if the claim says already whether a pod uses it. */
  async function reconcileUnused(
    claim: Cached<PersistentVolumeClaim>,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const isUsed = isUsedInCache(claim);
    const condition = decided(planCondition(claim, isUsed));
    if (condition === undefined) return undefined;
    if (!isUsed && (await live.isUsed(claim, signal))) return behind;
    await applyCondition(claim, condition, { client, pending, nowMs: context.clock.now() }, signal);
    return {};
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const claim = claims.store.get(key);
    if (claim === undefined) return {};
    if (tracksUnused && !isBeingDeleted(claim.metadata)) {
      const result = await reconcileUnused(claim, signal);
      if (result !== undefined) return result; // the event of the write brings the claim here again
    }
    const isDone = await applyProtection(claim, protection, signal);
    return isDone || isUsedInCache(claim) ? {} : behind;
  }

  const care = { primary: claims.store, ownWrites: [pending], forget: (key: ObjectKey) => live.forget(key) };
  const work = { name, context, queue, reconcile, caches: [claims, pods, ...handlers], workers, ...care };
  return { name, run: (signal) => runWorkers(work, signal) };
}
