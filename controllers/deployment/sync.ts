import {
  apiVersionOf,
  controllerReference,
  copyOf,
  Deployments,
  isEmptySelector,
  isEqualJson,
  keyOf,
  ReplicaSets,
  isBeingDeleted,
  type Cached,
  type Deployment,
  type DeploymentStatus,
  type LabelSelector,
  type PodTemplateSpec,
  type ReplicaSet,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { progressingOf, reasons, withCondition, type Conditions } from './conditions.ts';
import {
  nextRevision,
  newestSetAnnotations,
  revisionAnnotation,
  selectForCleanup,
  sizeAnnotations,
} from './history.ts';
import type { Action, Plan, Snapshot } from './plan.ts';
import { computeRolloutStatus, hasProgressDeadline, nextProgressCheckMs } from './progress.ts';
import { isOldPodRunning, sizesToRetire } from './recreate.ts';
import { isScaledUp, nameOf, replicasOf, splitByTemplate, templateHashLabel, type AnySet } from './replica-sets.ts';
import { planRollback, rollbackTarget } from './rollback.ts';
import { desiredOf, nextNewSize, nextOldSizes, type Sizes } from './rolling.ts';
import { isScalingEvent, planScale, type ScalePlan } from './scale.ts';
import { computeStatus, isComplete, isSameStatus, type StatusInput } from './status.ts';
import { templateHash } from './template-hash.ts';

/** Plans one sync. */
export function planSync(snapshot: Snapshot): Plan {
  const { deployment } = snapshot;
  if (isEmptySelector(deployment.spec.selector)) return planSelectingAll(deployment);
  const sets = splitByTemplate(deployment, snapshot.replicaSets);
  if (isBeingDeleted(deployment.metadata)) return finish(snapshot, { ...sets, status: 'counts' });

  const rollback = rollbackTarget(deployment);
  if (deployment.spec.paused === true) {
    const cleanup = rollback === undefined ? selectForCleanup(deployment, sets.old) : [];
    return finish(snapshot, {
      ...sets,
      status: 'counts',
      scale: planScale(deployment, sets.current, sets.old),
      cleanup,
    });
  }
  const all = sets.current === undefined ? sets.old : [...sets.old, sets.current];
  if (rollback !== undefined) return planUndo(snapshot, sets, rollback);
  if (isScalingEvent(deployment, all)) {
    const { sizes, annotateAll } = planScale(deployment, sets.current, sets.old);
    // If no ReplicaSet changes its size, update the annotations anyway. Otherwise every later sync would count as
    // scaling, and no rollout would continue.
    const scale = { sizes, annotateAll: annotateAll || sizes.size === 0 };
    return finish(snapshot, { ...sets, status: 'counts', scale });
  }
  return deployment.spec.strategy?.type === 'Recreate' ? planRecreate(snapshot, sets) : planRolling(snapshot, sets);
}

interface Sets {
  readonly current: Cached<ReplicaSet> | undefined;
  readonly old: readonly Cached<ReplicaSet>[];
}

/** The previous revision is relative to the newest one, so the newest ReplicaSet must exist with its revision first. */
function planUndo(snapshot: Snapshot, { current, old }: Sets, target: bigint): Plan {
  const { deployment } = snapshot;
  if (current === undefined) {
    const isRecreate = deployment.spec.strategy?.type === 'Recreate';
    const unsized = newReplicaSet(snapshot, old, 0);
    const size = isRecreate ? desiredOf(deployment) : nextNewSize(deployment, unsized, [...old, unsized]);
    return finish(snapshot, { current, created: newReplicaSet(snapshot, old, size), old, status: 'counts' });
  }
  const renumber = patchSet(snapshot, current, nextRevision(old), undefined);
  return { actions: renumber.length > 0 ? renumber : planRollback(deployment, target, [...old, current]), result: {} };
}

function planRolling(snapshot: Snapshot, { current, old }: Sets): Plan {
  const { deployment } = snapshot;
  const newest = current ?? newReplicaSet(snapshot, old, 0);
  const size = nextNewSize(deployment, newest, [...old, newest]);
  if (current !== undefined && size !== replicasOf(current)) {
    return finish(snapshot, { current, old, status: 'rollout', scale: scaleTo(new Map([[nameOf(current), size]])) });
  }
  const created = current === undefined ? newReplicaSet(snapshot, old, size) : undefined;
  const oldSizes = nextOldSizes(deployment, created ?? newest, old);
  const settled = oldSizes.size === 0 && isComplete(deployment, deployment.status);
  const cleanup = settled ? selectForCleanup(deployment, old) : [];
  return finish(snapshot, { current, created, old, status: 'rollout', scale: scaleTo(oldSizes), cleanup });
}

function planRecreate(snapshot: Snapshot, { current, old }: Sets): Plan {
  const { deployment, setsWithUnfinishedPods } = snapshot;
  const retire = sizesToRetire(old);
  if (retire.size > 0) return finish(snapshot, { current, old, status: 'rollout', scale: scaleTo(retire) });
  if (isOldPodRunning(old, setsWithUnfinishedPods)) return finish(snapshot, { current, old, status: 'rollout' });
  const desired = desiredOf(deployment);
  const created = current === undefined ? newReplicaSet(snapshot, old, desired) : undefined;
  const grow: Sizes =
    current === undefined || replicasOf(current) === desired ? new Map() : new Map([[nameOf(current), desired]]);
  const cleanup = isComplete(deployment, deployment.status) ? selectForCleanup(deployment, old) : [];
  return finish(snapshot, { current, created, old, status: 'rollout', scale: scaleTo(grow), cleanup });
}

const scaleTo = (sizes: Sizes): ScalePlan => ({ sizes, annotateAll: false });

interface Decision extends Sets {
  /** The ReplicaSet to create; undefined if one with the Deployment's template exists. */
  readonly created?: Unsaved<ReplicaSet> | undefined;
  readonly scale?: ScalePlan | undefined;
  readonly cleanup?: readonly Cached<ReplicaSet>[] | undefined;
  /** Whether the status includes the progress of a rollout, or only counts pods. */
  readonly status: 'rollout' | 'counts';
}

/** Turns a decision into actions: at most one for each ReplicaSet, then at most one for the Deployment. */
function finish(snapshot: Snapshot, decision: Decision): Plan {
  const { deployment, nowMs } = snapshot;
  const { current, created, old, cleanup = [] } = decision;
  const actions: Action[] = [];
  if (created !== undefined) {
    const size = replicasOf(created);
    const event = size > 0 ? scalingEvent(nameOf(created), 0, size) : undefined;
    actions.push({ kind: 'createReplicaSet', replicaSet: created, event });
  }
  const revision = nextRevision(old);
  for (const set of current === undefined ? old : [current, ...old]) {
    actions.push(...patchSet(snapshot, set, set === current ? revision : undefined, decision.scale));
  }
  for (const set of cleanup) actions.push({ kind: 'deleteReplicaSet', key: keyOf(set), uid: set.metadata.uid });

  const input: StatusInput = {
    deployment,
    current: current ?? created,
    old,
    conditions: openingConditions(snapshot, current, created),
    countTerminating: snapshot.countTerminating,
    nowMs,
  };
  const status = decision.status === 'rollout' ? computeRolloutStatus(input) : computeStatus(input);
  const newest = current ?? created;
  const shown = newest === undefined ? undefined : annotationsOf(snapshot, newest, revision)[revisionAnnotation];
  const write = planStatus(deployment, status, shown);
  if (write !== undefined) return { actions: [...actions, write], result: {} }; // the event of this write requeues the Deployment
  const requeueAfterMs = decision.status === 'rollout' ? nextProgressCheckMs(deployment, status, nowMs) : undefined;
  return { actions, result: { requeueAfterMs } };
}

function annotationsOf({ deployment }: Snapshot, set: AnySet, revision: bigint): Readonly<Record<string, string>> {
  return newestSetAnnotations(deployment, set.metadata.annotations, revision);
}

/** The one write that sets the size of a ReplicaSet and, for the newest, its annotations. */
function patchSet(
  snapshot: Snapshot,
  set: Cached<ReplicaSet>,
  revision: bigint | undefined,
  scale: ScalePlan | undefined,
): readonly Action[] {
  const { deployment } = snapshot;
  const before = set.metadata.annotations ?? {};
  let annotations = revision === undefined ? before : annotationsOf(snapshot, set, revision);
  const size = scale?.sizes.get(nameOf(set)) ?? replicasOf(set);
  const resized = size !== replicasOf(set);
  if (resized || (scale?.annotateAll === true && isScaledUp(set))) {
    annotations = { ...annotations, ...sizeAnnotations(deployment) };
  }
  const spec: { replicas?: number; minReadySeconds?: number } = {};
  if (resized) spec.replicas = size;
  const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
  if (revision !== undefined && (set.spec.minReadySeconds ?? 0) !== minReadySeconds)
    spec.minReadySeconds = minReadySeconds;
  const annotated = !isEqualJson(annotations, before);
  if (!annotated && Object.keys(spec).length === 0) return [];
  const metadata = { uid: set.metadata.uid, ...(annotated ? { annotations } : {}) };
  const event = resized ? scalingEvent(nameOf(set), replicasOf(set), size) : undefined;
  return [{ kind: 'patchReplicaSet', key: keyOf(set), patch: { metadata, spec }, event }];
}

function scalingEvent(name: string, from: number, to: number): Extract<Action, { kind: 'event' }>['event'] {
  const direction = from < to ? 'up' : 'down';
  const message = `Scaled ${direction} replica set ${name} from ${from} to ${to}`;
  return { type: 'Normal', reason: 'ScalingReplicaSet', message };
}

/** The Deployment's conditions with the changes of this sync: paused, or a ReplicaSet created or found. */
function openingConditions(
  { deployment, nowMs }: Snapshot,
  current: AnySet | undefined,
  created: AnySet | undefined,
): Conditions {
  let conditions: Conditions = deployment.status?.conditions ?? [];
  if (!hasProgressDeadline(deployment)) return conditions;
  const set = (status: 'True' | 'Unknown', reason: string, message: string): void => {
    conditions = withCondition(conditions, { type: 'Progressing', status, reason, message }, nowMs);
  };
  const reason = progressingOf(conditions)?.reason;
  if (!isBeingDeleted(deployment.metadata) && reason !== reasons.deadlineExceeded) {
    // Unknown: the time while paused does not count towards the progress deadline.
    if (deployment.spec.paused === true) set('Unknown', reasons.paused, 'Deployment is paused');
    else if (reason === reasons.paused) set('Unknown', reasons.resumed, 'Deployment is resumed');
  }
  if (created !== undefined) set('True', reasons.newSetCreated, `Created new replica set "${nameOf(created)}"`);
  else if (current !== undefined && progressingOf(conditions) === undefined) {
    set('True', reasons.newSetFound, `Found new replica set "${nameOf(current)}"`);
  }
  return conditions;
}

/** Writes status and revision annotation together, which the status subresource allows; undefined without a change. */
export function planStatus(
  deployment: Cached<Deployment>,
  status: Cached<DeploymentStatus>,
  revision: string | undefined,
): Action | undefined {
  const before = deployment.metadata.annotations;
  const annotations = revision === undefined ? before : { ...before, [revisionAnnotation]: revision };
  if (isEqualJson(annotations, before) && isSameStatus(deployment.status, status)) return undefined;
  return {
    kind: 'updateStatus',
    deployment: { ...deployment, metadata: { ...deployment.metadata, annotations }, status },
  };
}

/** The ReplicaSet for the Deployment's current template. */
function newReplicaSet({ deployment }: Snapshot, old: readonly AnySet[], replicas: number): Unsaved<ReplicaSet> {
  const { template, selector, minReadySeconds } = copyOf<Deployment>(deployment).spec;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [templateHashLabel]: hash };
  const hashedTemplate: PodTemplateSpec = { ...template, metadata: { ...template.metadata, labels } };
  const hashedSelector: LabelSelector = {
    ...selector,
    matchLabels: { ...selector.matchLabels, [templateHashLabel]: hash },
  };
  const annotations = newestSetAnnotations(deployment, undefined, nextRevision(old));
  return {
    apiVersion: apiVersionOf(ReplicaSets),
    kind: ReplicaSets.kind,
    metadata: {
      name: replicaSetName(deployment.metadata.name, hash),
      namespace: deployment.metadata.namespace,
      labels,
      annotations: { ...annotations, ...sizeAnnotations(deployment) },
      ownerReferences: [controllerReference(Deployments, deployment)],
    },
    spec: { replicas, minReadySeconds, selector: hashedSelector, template: hashedTemplate },
  };
}

const maxNameLength = 253;

function replicaSetName(deploymentName: string, hash: string): string {
  return `${deploymentName.slice(0, maxNameLength - hash.length - 1)}-${hash}`;
}

/** A Deployment that selects everything would adopt everything: it only gets a warning event. */
function planSelectingAll(deployment: Cached<Deployment>): Plan {
  const message = 'This deployment is selecting all pods. A non-empty selector is required.';
  const actions: Action[] = [{ kind: 'event', event: { type: 'Warning', reason: 'SelectingAll', message } }];
  const { generation = 0 } = deployment.metadata;
  if ((deployment.status?.observedGeneration ?? 0) < generation) {
    actions.push({
      kind: 'updateStatus',
      deployment: { ...deployment, status: { ...deployment.status, observedGeneration: generation } },
    });
  }
  return { actions, result: {} };
}
