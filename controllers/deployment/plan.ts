import type { Cached, Deployment, ObjectKey, ReplicaSet, Unsaved } from '../../pkg/api/index.ts';
import type { ReconcileResult } from '../../pkg/controller/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';

/** The input of a sync, read before it starts. */
export interface Snapshot {
  readonly deployment: Cached<Deployment>;
  /** The ReplicaSets that the Deployment controls and selects. */
  readonly replicaSets: readonly Cached<ReplicaSet>[];
  /** The uids of ReplicaSets with pods that have not finished. Only Recreate needs them. */
  readonly setsWithUnfinishedPods: ReadonlySet<string>;
  readonly countTerminating: boolean;
  readonly nowMs: number;
}

export type Action =
  | {
      readonly kind: 'createReplicaSet';
      readonly replicaSet: Unsaved<ReplicaSet>;
      readonly event?: NewEvent | undefined;
    }
  | {
      readonly kind: 'patchReplicaSet';
      readonly key: ObjectKey;
      /** A merge patch without resourceVersion: frequent status updates of the ReplicaSet must not cause conflicts. */
      readonly patch: object;
      readonly event?: NewEvent | undefined;
    }
  | { readonly kind: 'deleteReplicaSet'; readonly key: ObjectKey; readonly uid: string }
  | {
      readonly kind: 'updateDeployment';
      readonly deployment: Cached<Deployment>;
      readonly event?: NewEvent | undefined;
    }
  | { readonly kind: 'updateStatus'; readonly deployment: Cached<Deployment> }
  | { readonly kind: 'event'; readonly event: NewEvent };

export interface Plan {
  readonly actions: readonly Action[];
  readonly result: ReconcileResult;
}
