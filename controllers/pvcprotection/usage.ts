import {
  isBeingDeleted,
  keyOf,
  type Cached,
  type ObjectKey,
  type PersistentVolumeClaim,
  type Pod,
} from '../../pkg/api/index.ts';
import { claimReferencesOf, isPodStopped, referencesTo } from '../../pkg/pods/index.ts';

type Claim = Cached<PersistentVolumeClaim>;

/**
 * Whether the pod keeps a claim from being deleted. Without a node it does not: a kubelet does not start a pod whose
 * claim is being deleted. A finished pod does, because its volumes may still be mounted.
 */
function isHeldBy(pod: Cached<Pod>, claim: Claim): boolean {
  if ((pod.spec.nodeName ?? '') === '') return false;
  return referencesTo(claim, pod).some(({ isEphemeral }) => !isEphemeral || !isShutDown(pod));
}

/**
 * The kubelet is done with the pod, or somebody deleted it by force. Finalizers may keep it, and one of them may wait for
 * the claims of its ephemeral volumes: if these waited for the pod, neither would ever be gone.
 */
function isShutDown({ metadata }: Cached<Pod>): boolean {
  return isBeingDeleted(metadata) && metadata.deletionGracePeriodSeconds === 0;
}

/** Whether the pod uses the claim, with or without a node. */
function isReferredToBy(pod: Cached<Pod>, claim: Claim): boolean {
  return !isPodStopped(pod) && referencesTo(claim, pod).length > 0;
}

/**
 * A claim that is being deleted is in use while a pod keeps it from being deleted. Any other claim is in use while a pod
 * that has not stopped refers to it.
 */
export function isUsedBy(pod: Cached<Pod>, claim: Claim): boolean {
  return isBeingDeleted(claim.metadata) ? isHeldBy(pod, claim) : isReferredToBy(pod, claim);
}

/** The claims that no pod uses. All are of the namespace of the pods. */
export function selectUnused(claims: readonly Claim[], pods: readonly Cached<Pod>[]): Claim[] {
  const podsOf = new Map<ObjectKey, Cached<Pod>[]>();
  for (const pod of pods) {
    for (const { key } of claimReferencesOf(pod)) {
      const others = podsOf.get(key);
      if (others === undefined) podsOf.set(key, [pod]);
      else others.push(pod);
    }
  }
  return claims.filter((claim) => !podsOf.get(keyOf(claim))?.some((pod) => isUsedBy(pod, claim)));
}
