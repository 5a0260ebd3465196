import {
  controllerOf,
  isBeingDeleted,
  keyOf,
  StatefulSets,
  type Cached,
  type ControllerRevision,
  type KubeObject,
  type Selector,
  type StatefulSet,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import {
  applyClaims,
  byController,
  orphansByLabel,
  orphansWith,
  planClaims,
  type ClaimPlan,
  type PendingWrites,
} from '../../pkg/controller/index.ts';
import type { Informer } from '../../informers/index.ts';

export interface RevisionClaims {
  plan(set: Cached<StatefulSet>, isSelected: Selector): ClaimPlan<ControllerRevision>;
  /** Adopts as planned. */
  apply(plan: ClaimPlan<ControllerRevision>, set: Cached<StatefulSet>, signal: AbortSignal): Promise<void>;
}

/** The revisions that a set owns or adopts. It releases none: their labels are those of templates, which may change. */
export function createRevisionClaims({
  client,
  revisions,
  pendingRevisions,
}: {
  readonly client: Client;
  readonly revisions: Informer<ControllerRevision>;
  readonly pendingRevisions: PendingWrites<ControllerRevision>;
}): RevisionClaims {
  revisions.addIndex(byController);
  revisions.addIndex(orphansByLabel);
  return {
    plan(set, isSelected) {
      const { namespace, uid } = set.metadata;
      const orphans = orphansWith<ControllerRevision>(revisions.store, namespace, set.spec.selector.matchLabels ?? {});
      const candidates = [...revisions.store.byIndex(byController, uid), ...orphans];
      const plan = { ...planClaims<ControllerRevision>(set, isSelected, candidates), release: [] };
      if (!isBeingDeleted(set.metadata)) return plan;
      // A deletion that orphans dependents orphans the revisions. They still identify the revision of pods.
      const orphaned = orphans.filter((each) => isSelected(each.metadata.labels) && controllerOf(each) === undefined);
      return { ...plan, claimed: [...plan.claimed, ...orphaned] };
    },
    async apply(plan, set, signal) {
      const onWritten = ({ metadata }: KubeObject): void =>
        pendingRevisions.wrote(keyOf(set), metadata.resourceVersion);
      const claim = { client, ownerKind: StatefulSets, owner: set, kind: revisions.kind, onWritten };
      await applyClaims<ControllerRevision>(plan, claim, signal);
    },
  };
}
