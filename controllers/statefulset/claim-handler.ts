import { keyOf, type PersistentVolumeClaim, type StatefulSet } from '../../pkg/api/index.ts';
import type { KeySink } from '../../pkg/controller/index.ts';
import { defineIndex, type Handler, type Store } from '../../informers/index.ts';
import { claimPrefixOf, claimTemplatesOf } from './claims.ts';
import { splitPodName } from './ordinals.ts';

const valueOf = (namespace: string | undefined, prefix: string): string => `${namespace ?? ''}/${prefix}`;

/** Sets by the names of their claims, without the ordinal. */
export const setsByClaimPrefix = defineIndex<StatefulSet>('claim prefix', (set) =>
  claimTemplatesOf(set).map((template) => valueOf(set.metadata.namespace, claimPrefixOf(set, template))),
);

/**
 * Enqueues the set of a deleted claim. A pod may wait for its name: while a claim is being deleted, or while the
 * garbage collector has not deleted the claim of an earlier scale-down. The Go binary does not watch claims, and
 * continues at a retry or a change of a pod.
 */
export function enqueueSetsOfDeletedClaims(queue: KeySink, sets: Store<StatefulSet>): Handler<PersistentVolumeClaim> {
  return {
    deleted({ metadata }) {
      const prefix = splitPodName(metadata.name)?.parent; // the names of claims end with the ordinal too
      if (prefix === undefined) return;
      for (const set of sets.byIndex(setsByClaimPrefix, valueOf(metadata.namespace, prefix))) queue.add(keyOf(set));
    },
  };
}
