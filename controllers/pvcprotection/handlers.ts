import { isBeingDeleted, keyOf, type Cached, type PersistentVolumeClaim, type Pod } from '../../pkg/api/index.ts';
import type { KeySink } from '../../pkg/controller/index.ts';
import { claimReferencesOf, isPodStopped } from '../../pkg/pods/index.ts';
import type { Handler, Store } from '../../informers/index.ts';
import { isSaidUnused } from './unused-since.ts';
import { isUsedBy } from './usage.ts';

type Claim = Cached<PersistentVolumeClaim>;

export interface HandlerDeps {
  readonly queue: KeySink;
  readonly claims: Pick<Store<PersistentVolumeClaim>, 'get'>;
  readonly tracksUnused: boolean;
}

/** Enqueues the claims that a pod may have released. Most changes of pods concern none: no claim of theirs is deleted. */
export function enqueueClaimsOfPods({ queue, claims, tracksUnused }: HandlerDeps): Handler<Pod> {
  const enqueue = (pod: Cached<Pod>, isConcerned: (claim: Claim) => boolean): void => {
    for (const { key } of claimReferencesOf(pod)) {
      const claim = claims.get(key);
      if (claim !== undefined && isConcerned(claim)) queue.add(key);
    }
  };
  const isReleased = (claim: Claim, pod: Cached<Pod>): boolean =>
    isBeingDeleted(claim.metadata) && !isUsedBy(pod, claim);
  return {
    added: (pod) => enqueue(pod, (claim) => tracksUnused || isReleased(claim, pod)),
    updated(before, after) {
      const isChanged = tracksUnused && isPodStopped(before) !== isPodStopped(after);
      enqueue(after, (claim) => isChanged || isReleased(claim, after));
    },
    deleted: (pod) => enqueue(pod, ({ metadata }) => tracksUnused || isBeingDeleted(metadata)),
  };
}

/** Enqueues claims that nothing is said of yet, and those that no pod may use since the last start. */
export function enqueueUntracked({ queue }: Pick<HandlerDeps, 'queue'>): Handler<PersistentVolumeClaim> {
  const enqueue = (claim: Claim): void => {
    if (isSaidUnused(claim) !== true) queue.add(keyOf(claim));
  };
  return {
    added: enqueue,
    updated: (_before, after) => {
      if (isSaidUnused(after) === undefined) queue.add(keyOf(after));
    },
  };
}
