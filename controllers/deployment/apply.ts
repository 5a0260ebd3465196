import {
  Deployments,
  isControlledBy,
  keyOf,
  metadataOf,
  ReplicaSets,
  type Cached,
  type Deployment,
  type KubeObject,
  type ObjectKey,
  type ReplicaSet,
  type Unsaved,
} from '../../pkg/api/index.ts';
import {
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
  serverMessage,
  type Client,
} from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import { planCollision, planCreateFailure } from './failures.ts';
import type { Action, Snapshot } from './plan.ts';
import { hasTemplate } from './replica-sets.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly pendingSets: PendingWrites<ReplicaSet>;
  readonly pendingDeployments: PendingWrites<Deployment>;
}

/**
 * Applies the actions of a plan in order and stops at the first error. False if the plan was made on a stale cache: plan
 * again once the cache is updated.
 */
export async function applyActions(
  actions: readonly Action[],
  snapshot: Snapshot,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<boolean> {
  for (const action of actions) {
    if (!(await applyAction(action, snapshot, deps, signal))) return false;
  }
  return true;
}

async function applyAction(action: Action, snapshot: Snapshot, deps: ApplyDeps, signal: AbortSignal): Promise<boolean> {
  const { client, recorder, pendingSets, pendingDeployments } = deps;
  const { deployment } = snapshot;
  const owner: ObjectKey = keyOf(deployment);
  const wroteSet = ({ metadata }: KubeObject): void => pendingSets.wrote(owner, metadata.resourceVersion);
  const wroteDeployment = ({ metadata }: KubeObject): void => pendingDeployments.wrote(owner, metadata.resourceVersion);
  switch (action.kind) {
    case 'createReplicaSet':
      if (!(await createReplicaSet(action.replicaSet, snapshot, deps, signal))) return false;
      break;
    case 'patchReplicaSet':
      wroteSet(await client.patch(metadataOf(ReplicaSets), action.key, { type: 'merge', body: action.patch }, signal));
      break;
    case 'deleteReplicaSet':
      await deleteReplicaSet(action.key, action.uid, client, signal);
      pendingSets.deleted(owner, action.key, action.uid);
      return true;
    case 'updateDeployment':
      wroteDeployment(await client.update(metadataOf(Deployments), writable(action.deployment), signal));
      break;
    case 'updateStatus':
      wroteDeployment(await client.updateStatus(metadataOf(Deployments), writable(action.deployment), signal));
      return true;
    case 'event':
      break;
  }
  if (action.event !== undefined) recorder.event(Deployments, deployment, action.event);
  return true;
}

/** Serializing does not modify a cached object. */
function writable(deployment: Cached<Deployment>): Unsaved<Deployment> {
  return deployment as Unsaved<Deployment>;
}

/** True if this call created the ReplicaSet, false if its name was taken. */
async function createReplicaSet(
  replicaSet: Unsaved<ReplicaSet>,
  snapshot: Snapshot,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const owner: ObjectKey = keyOf(snapshot.deployment);
  try {
    const created = await deps.client.create(metadataOf(ReplicaSets), replicaSet, signal);
    deps.pendingSets.wrote(owner, created.metadata.resourceVersion);
    return true;
  } catch (error) {
    if (signal.aborted || isNamespaceTerminating(error)) throw error;
    if (isAlreadyExists(error)) {
      await resolveTakenName(replicaSet, snapshot, deps, signal);
      return false;
    }
    await applyActions(planCreateFailure(snapshot, replicaSet, serverMessage(error)), snapshot, deps, signal);
    throw error;
  }
}

/** The existing ReplicaSet may be ours, from a create whose answer was lost. Otherwise another name is needed. */
async function resolveTakenName(
  wanted: Unsaved<ReplicaSet>,
  snapshot: Snapshot,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const { deployment } = snapshot;
  const found = await deps.client.get(ReplicaSets, keyOf(wanted), signal);
  if (isControlledBy(found, deployment) && hasTemplate(found, deployment.spec.template)) {
    deps.pendingSets.wrote(keyOf(deployment), found.metadata.resourceVersion);
  } else {
    await applyActions([planCollision(snapshot)], snapshot, deps, signal);
  }
}

async function deleteReplicaSet(key: ObjectKey, uid: string, client: Client, signal: AbortSignal): Promise<void> {
  try {
    await client.delete(ReplicaSets, key, { preconditions: { uid } }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
