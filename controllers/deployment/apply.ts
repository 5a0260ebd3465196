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

/** Carries a plan out, in order, and stops at the first error. */
export async function applyActions(
  actions: readonly Action[],
  snapshot: Snapshot,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const action of actions) await applyAction(action, snapshot, deps, signal);
}

async function applyAction(action: Action, snapshot: Snapshot, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  const { client, recorder, pendingSets, pendingDeployments } = deps;
  const { deployment } = snapshot;
  const owner: ObjectKey = keyOf(deployment);
  const wroteSet = ({ metadata }: KubeObject): void => pendingSets.wrote(owner, metadata.resourceVersion);
  const wroteDeployment = ({ metadata }: KubeObject): void => pendingDeployments.wrote(owner, metadata.resourceVersion);
  switch (action.kind) {
    case 'createReplicaSet':
      if (!(await createReplicaSet(action.replicaSet, snapshot, deps, signal))) return;
      break;
    case 'patchReplicaSet':
      wroteSet(await client.patch(metadataOf(ReplicaSets), action.key, { type: 'merge', body: action.patch }, signal));
      break;
    case 'deleteReplicaSet':
      await deleteReplicaSet(action.key, action.uid, client, signal);
      pendingSets.deleted(owner, action.key, action.uid);
      return;
    case 'updateDeployment':
      wroteDeployment(await client.update(metadataOf(Deployments), writable(action.deployment), signal));
      break;
    case 'updateStatus':
      wroteDeployment(await client.updateStatus(metadataOf(Deployments), writable(action.deployment), signal));
      return;
    case 'event':
      break;
  }
  if (action.event !== undefined) recorder.event(Deployments, deployment, action.event);
}

/** Serialising reads only, so a cached object may go out as it is. */
function writable(deployment: Cached<Deployment>): Unsaved<Deployment> {
  return deployment as Unsaved<Deployment>;
}

/** True if this call created the set, false if it was there already. */
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
      if (await isOurs(replicaSet, snapshot, deps.client, signal)) return false;
      await applyActions([planCollision(snapshot)], snapshot, deps, signal);
      throw error;
    }
    await applyActions(planCreateFailure(snapshot, replicaSet, serverMessage(error)), snapshot, deps, signal);
    throw error;
  }
}

/** Whether the set that has the name already is the one that we wanted: a create of ours whose answer was lost. */
async function isOurs(
  wanted: Unsaved<ReplicaSet>,
  { deployment }: Snapshot,
  client: Client,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await client.get(ReplicaSets, keyOf(wanted), signal);
  return isControlledBy(found, deployment) && hasTemplate(found, deployment.spec.template);
}

async function deleteReplicaSet(key: ObjectKey, uid: string, client: Client, signal: AbortSignal): Promise<void> {
  try {
    await client.delete(ReplicaSets, key, { preconditions: { uid } }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
