import type { Attachment, Operation } from './actual-state.ts';

/** How long a volume that no pod needs any more may stay mounted on a node that is not healthy. */
export const maxWaitForUnmountMs = 6 * 60_000;
/** How long an external attacher may take. */
export const attachTimeoutMs = 2 * 60_000;

export interface NodeFacts {
  /** There is no such Node. It may have been deleted before this process started. */
  readonly isMissing: boolean;
  readonly isHealthy: boolean;
  readonly isOutOfService: boolean;
  /** Whether the kubelet says that it uses the volume. */
  readonly isInUse: boolean;
}

/** What the cache has of the VolumeAttachment. */
export type AttachmentObject =
  | { readonly kind: 'absent' }
  /** This process has created one that the cache does not have yet. */
  | { readonly kind: 'unobserved' }
  | {
      readonly kind: 'present';
      readonly isBeingDeleted: boolean;
      readonly isAttached: boolean;
      readonly attachError?: string | undefined;
      readonly detachError?: string | undefined;
    };

/** Everything about a volume on a node. */
export interface NodeSnapshot {
  readonly nodeName: string;
  /** Undefined if no pod needs it there. */
  readonly need?: { readonly isConflictReported: boolean } | undefined;
  readonly attachment?: Readonly<Attachment> | undefined;
  readonly operation?: Operation | undefined;
  readonly node: NodeFacts;
  /** Undefined for plugins without VolumeAttachments. */
  readonly object?: AttachmentObject | undefined;
}

export interface VolumeSnapshot {
  readonly nodes: readonly NodeSnapshot[];
  readonly isExclusive: boolean;
  /** In messages of timeouts. Undefined for volumes that are known from the status of a node alone. */
  readonly csi?: { readonly driver: string; readonly volumeHandle: string } | undefined;
  readonly isForceDetachDisabled: boolean;
  readonly nowMs: number;
}

export type Action =
  | { readonly kind: 'keep' | 'request-detach' | 'withdraw' | 'attached' | 'detached'; readonly nodeName: string }
  | { readonly kind: 'attach'; readonly nodeName: string }
  | { readonly kind: 'detach'; readonly nodeName: string; readonly verifies: boolean; readonly forced?: ForcedReason }
  | { readonly kind: 'failed'; readonly nodeName: string; readonly problem: string }
  /** Other nodes have the volume. */
  | { readonly kind: 'conflict'; readonly nodeName: string; readonly others: readonly string[] };

export type ForcedReason = 'timeout' | 'out-of-service';

export interface Plan {
  readonly actions: readonly Action[];
  /** When time alone changes the plan. */
  readonly wakeInMs?: number | undefined;
}

/** One step: the outcome of what is under way; else detaches; else attaches, so that an exclusive volume is free first. */
export function planVolume(snapshot: VolumeSnapshot): Plan {
  const steps = [planOutcome, planDetach, planAttach];
  const waits: number[] = [];
  for (const step of steps) {
    const plans = snapshot.nodes.map((node) => step(node, snapshot));
    const actions = plans.flatMap((plan) => plan.actions);
    if (actions.length > 0) return { actions: snapshot.isExclusive ? withOneAttach(actions) : actions };
    waits.push(...plans.flatMap(({ wakeInMs }) => (wakeInMs === undefined ? [] : [wakeInMs])));
  }
  return { actions: [], wakeInMs: waits.length === 0 ? undefined : Math.max(1, Math.min(...waits)) };
}

/** Several nodes may need an exclusive volume that no node has. */
function withOneAttach(actions: readonly Action[]): readonly Action[] {
  const first = actions.find(({ kind }) => kind === 'attach');
  return actions.filter((action) => action.kind !== 'attach' || action === first);
}

const nothing: Plan = { actions: [] };
const just = (action: Action): Plan => ({ actions: [action] });

/** What has become of an operation that was started. */
function planOutcome({ nodeName, object, operation }: NodeSnapshot, { csi, nowMs }: VolumeSnapshot): Plan {
  if (operation?.phase !== 'running') return nothing;
  const { kind, sinceMs } = operation;
  const outcome = kind === 'attach' ? attachOutcome(object) : detachOutcome(object);
  if (outcome === 'done') return just({ kind: kind === 'attach' ? 'attached' : 'detached', nodeName });
  if (outcome !== 'pending') return just({ kind: 'failed', nodeName, problem: outcome.problem });
  const leftMs = sinceMs + attachTimeoutMs - nowMs;
  if (leftMs > 0) return { actions: [], wakeInMs: leftMs };
  const driver = kind === 'attach' ? csi?.driver : 'unknown';
  const problem = `timed out waiting for external-attacher of ${driver} CSI driver to ${kind} volume ${csi?.volumeHandle}`;
  return just({ kind: 'failed', nodeName, problem });
}

type Outcome = 'done' | 'pending' | { readonly problem: string };

function attachOutcome(object: AttachmentObject | undefined): Outcome {
  if (object === undefined) return 'done';
  if (object.kind !== 'present') return 'pending';
  if (object.isBeingDeleted) return { problem: 'volume attachment is being deleted' };
  if (object.isAttached) return 'done';
  return object.attachError === undefined ? 'pending' : { problem: object.attachError };
}

function detachOutcome(object: AttachmentObject | undefined): Outcome {
  if (object === undefined || object.kind === 'absent') return 'done';
  if (object.kind === 'unobserved' || object.detachError === undefined) return 'pending';
  return { problem: object.detachError };
}

/** Whether an operation is under way that excludes another on this node. */
function isBusy({ nodeName }: NodeSnapshot, { isExclusive, nodes }: VolumeSnapshot): boolean {
  return nodes.some(({ nodeName: other, operation }) => {
    return operation?.phase === 'running' && (isExclusive || other === nodeName);
  });
}

function planDetach(node: NodeSnapshot, snapshot: VolumeSnapshot): Plan {
  const { attachment, nodeName, object, operation } = node;
  const { nowMs } = snapshot;
  if (attachment === undefined || node.need !== undefined || isBusy(node, snapshot)) return nothing;
  const isUnconfirmed = attachment.state === 'uncertain' && node.node.isMissing;
  // Without Node and VolumeAttachment nothing is left to detach, unless the create of an attach is on its way.
  if (isUnconfirmed && object?.kind === 'absent' && operation?.kind !== 'attach')
    return just({ kind: 'detached', nodeName });
  const leftMs = operation?.kind === 'detach' ? operation.sinceMs + operation.delayMs - nowMs : 0;
  if (leftMs > 0 && object?.kind !== 'absent') return { actions: [], wakeInMs: leftMs };
  const { unneededSinceMs } = attachment;
  if (unneededSinceMs === undefined) return just({ kind: 'request-detach', nodeName });
  const untilExpiredMs = unneededSinceMs + maxWaitForUnmountMs - nowMs + 1;
  const isExpired = untilExpiredMs <= 0 && !snapshot.isForceDetachDisabled;
  const { isHealthy, isInUse, isOutOfService } = node.node;
  if (isInUse && !isOutOfService && (isHealthy || !isExpired)) {
    const isTimed = !isHealthy && untilExpiredMs > 0 && (isUnconfirmed || !snapshot.isForceDetachDisabled);
    return isTimed ? { actions: [], wakeInMs: untilExpiredMs } : nothing;
  }
  // The kubelet must not begin to mount what is about to be detached.
  if (attachment.report === 'wanted') return just({ kind: 'withdraw', nodeName });
  if (attachment.report === 'withdrawn') return nothing; // until the status of the node is written
  const forced = isExpired ? 'timeout' : isOutOfService ? 'out-of-service' : undefined;
  return just({ kind: 'detach', nodeName, verifies: forced === undefined, ...(forced && { forced }) });
}

/**
 * Whether another node has an exclusive volume, or may have it. After a restart that is uncertain until an attach or a
 * detach there has told, but only while there is a VolumeAttachment, and not forever if the Node was deleted; Go would not
 * wait. After a detach that the attacher says has failed, it is the driver that must refuse a second node, as in Go: a
 * machine that is gone would keep the volume forever.
 */
function isHeldBy(other: NodeSnapshot, node: NodeSnapshot, { nowMs }: VolumeSnapshot): boolean {
  const { attachment, object, operation } = other;
  if (attachment === undefined || attachment.state === 'attached') return attachment !== undefined;
  // Of two nodes that both may have it, one must go first.
  const isEqual = node.object?.kind === 'present' && (node.object.isAttached || node.nodeName < other.nodeName);
  if (isEqual || object?.kind === 'absent') return false;
  if (operation === undefined) return !(other.node.isMissing && hasExpired(attachment, nowMs));
  return object?.kind === 'present' && (object.isAttached || object.isBeingDeleted) && object.detachError === undefined;
}

/** A deleted Node can no longer be tainted as out of service: with forced detaches disabled, time must do. */
function hasExpired({ unneededSinceMs }: Readonly<Attachment>, nowMs: number): boolean {
  return unneededSinceMs !== undefined && nowMs > unneededSinceMs + maxWaitForUnmountMs;
}

function planAttach(node: NodeSnapshot, snapshot: VolumeSnapshot): Plan {
  const { attachment, nodeName, need, object, operation } = node;
  if (need === undefined || isBusy(node, snapshot)) return nothing;
  if (attachment?.state === 'attached') {
    const isKept = attachment.unneededSinceMs === undefined && attachment.report === 'wanted';
    return isKept ? nothing : just({ kind: 'keep', nodeName });
  }
  if (snapshot.isExclusive) {
    const others = snapshot.nodes.filter((other) => other !== node && isHeldBy(other, node, snapshot));
    if (others.length > 0) {
      if (need.isConflictReported) return nothing;
      return just({ kind: 'conflict', nodeName, others: others.map((other) => other.nodeName) });
    }
  }
  const isAttached = object?.kind === 'present' && object.isAttached && !object.isBeingDeleted;
  const leftMs = operation?.kind === 'attach' ? operation.sinceMs + operation.delayMs - snapshot.nowMs : 0;
  return leftMs > 0 && !isAttached ? { actions: [], wakeInMs: leftMs } : just({ kind: 'attach', nodeName });
}
