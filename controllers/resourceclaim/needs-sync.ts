import { isBeingDeleted, type Cached, type Pod, type PodGroup, type ResourceClaim } from '../../pkg/api/index.ts';
import {
  bindingOf,
  claimEntriesOf,
  claimNameOf,
  isForPod,
  isReservedForPod,
  type ClaimEntry,
} from '../../pkg/resourceclaims/index.ts';
import { isPodDone } from './pod-state.ts';

/** What the caches say about the claims of a pod or group. */
export interface SyncView {
  claimOf(name: string): Cached<ResourceClaim> | undefined;
  readonly acceptsGroups: boolean;
}

export interface PodSyncView extends SyncView {
  /** `missing`: the pod names a group that is not in the cache. */
  readonly group: Cached<PodGroup> | 'missing' | undefined;
}

/**
 * Whether there may be work for a pod: most changes of pods concern no claim. A pod whose claim was replaced by one of
 * the same name waits until that one is deleted.
 */
export function podNeedsSync(pod: Cached<Pod>, view: PodSyncView): boolean {
  if (isBeingDeleted(pod.metadata) || isPodDone(pod)) return false;
  return claimEntriesOf(pod).some((entry) => entryNeedsSync(pod, entry, view));
}

function entryNeedsSync(pod: Cached<Pod>, entry: ClaimEntry, view: PodSyncView): boolean {
  const name = claimNameOf(pod, entry);
  if (name.kind !== 'known') return name.kind !== 'not-needed';
  const claim = view.claimOf(name.name);
  if (claim === undefined) {
    if (!name.isGenerated) return false; // users create it
    return view.group === 'missing' || bindingOf(pod, view.group, entry).kind === 'pod';
  }
  if (name.isGenerated && !isForPod(pod, claim, view)) return false;
  const isBound = (pod.spec.nodeName ?? '') !== '';
  return isBound && claim.status?.allocation !== undefined && !isReservedForPod(pod, claim, view);
}

export function groupNeedsSync(group: Cached<PodGroup>, { claimOf }: SyncView): boolean {
  if (isBeingDeleted(group.metadata)) return false;
  return claimEntriesOf(group).some((entry) => {
    const name = claimNameOf(group, entry);
    if (name.kind !== 'known') return name.kind !== 'not-needed';
    return name.isGenerated && claimOf(name.name) === undefined;
  });
}
