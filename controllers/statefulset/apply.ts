import {
  copyOf,
  keyOf,
  metadataOf,
  PersistentVolumeClaims,
  Pods,
  StatefulSets,
  type Cached,
  type OwnerReference,
  type Pod,
  type StatefulSet,
  type Unsaved,
} from '../../pkg/api/index.ts';
import {
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  serverMessage,
  type Client,
} from '../../pkg/client/index.ts';
import { asError, slowStart, type PendingWrites } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { Claim, ClaimsPlan } from './claims.ts';
import { isChangingPods, type PodsPlan, type Step } from './plan.ts';
import type { RetentionPlan } from './retention.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly pendingPods: PendingWrites<Pod>;
  readonly pendingClaims: PendingWrites<Claim>;
}

/** The dependencies of all writes for one set. */
interface Writing extends ApplyDeps {
  readonly set: Cached<StatefulSet>;
}

export interface PodsOutcome {
  readonly deletedForUpdate: number;
  /** Whether the sync came to the update. */
  readonly reachedUpdate: boolean;
  /** Whether pods were to be created or deleted. Their events enqueue the set. */
  readonly changesPods: boolean;
  /** The first error. The status is written in any case. */
  readonly error: Error | undefined;
}

/** Executes the plan, in order, up to the first error. */
export async function applyPods(
  plan: PodsPlan,
  set: Cached<StatefulSet>,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<PodsOutcome> {
  const writing: Writing = { ...deps, set };
  const changesPods = isChangingPods(plan);
  let deletedForUpdate = 0;
  let reachedUpdate = false;
  try {
    await forEach(plan.replicas, plan.isOrdered, (steps) => applySteps(steps, writing, signal));
    await forEach(plan.retention, plan.isOrdered, (retention) => applyRetention(retention, writing, signal));
    await forEach(plan.scaleDown, plan.isOrdered, (pod) => deletePod(pod, writing, signal));
    reachedUpdate = plan.reachesUpdate;
    for (const pod of plan.outdated) {
      await deletePod(pod, writing, signal);
      deletedForUpdate++;
    }
    return { deletedForUpdate, reachedUpdate, changesPods, error: undefined };
  } catch (error) {
    return { deletedForUpdate, reachedUpdate, changesPods, error: asError(error) };
  }
}

/** One after the other, or in batches that grow while all succeed. */
async function forEach<T>(items: readonly T[], isOrdered: boolean, task: (item: T) => Promise<void>): Promise<void> {
  if (isOrdered) {
    for (const item of items) await task(item);
    return;
  }
  const queue = items.values();
  const { error } = await slowStart(items.length, async () => {
    const { value, done } = queue.next();
    if (done !== true) await task(value);
  });
  if (error !== undefined) throw error;
}

async function applySteps(steps: readonly Step[], writing: Writing, signal: AbortSignal): Promise<void> {
  for (const step of steps) {
    switch (step.kind) {
      case 'replace':
        await deletePod(step.pod, writing, signal);
        break;
      case 'create':
        await createPod(step, writing, signal);
        break;
      case 'provide':
        await provideClaims(step, writing, signal);
        break;
      case 'update':
        await updatePod(step, writing, signal);
        break;
    }
  }
}

type StepOf<K extends Step['kind']> = Extract<Step, { readonly kind: K }>;

async function createPod(
  { pod, claims, retention }: StepOf<'create'>,
  writing: Writing,
  signal: AbortSignal,
): Promise<void> {
  const { client, pendingPods, set } = writing;
  const podName = pod.metadata.name ?? '';
  const create = () => createClaims(claims, podName, writing, signal);
  await attempt({ verb: 'Create', podName, write: create }, writing, signal);
  let failure: Error | undefined;
  try {
    const { metadata } = await client.create(metadataOf(Pods), pod, signal);
    pendingPods.wrote(keyOf(set), metadata.resourceVersion);
  } catch (error) {
    if (signal.aborted || isAlreadyExists(error)) throw error;
    failure = asError(error);
  }
  // Claims that were there before the pod get their owners even if the pod is refused.
  await attemptRetention(podName, retention, writing, signal);
  if (failure === undefined) return recordPod('Create', podName, writing);
  recordFailure('Create', podName, failure, writing);
  throw failure;
}

async function attemptRetention(
  podName: string,
  retention: RetentionPlan,
  writing: Writing,
  signal: AbortSignal,
): Promise<void> {
  const write = () => applyRetention(retention, writing, signal);
  await attempt({ verb: 'Update', podName, write }, writing, signal);
}

async function provideClaims(
  { podName, claims, retention }: StepOf<'provide'>,
  writing: Writing,
  signal: AbortSignal,
): Promise<void> {
  await createClaims(claims, podName, writing, signal);
  await attemptRetention(podName, retention, writing, signal);
}

async function updatePod(
  { podName, fixed, claims, retention }: StepOf<'update'>,
  writing: Writing,
  signal: AbortSignal,
): Promise<void> {
  const { client, pendingPods, set } = writing;
  const write = async (): Promise<void> => {
    await createClaims(claims, podName, writing, signal);
    await applyRetention(retention, writing, signal);
    if (fixed === undefined) return;
    const { metadata } = await client.update(metadataOf(Pods), fixed, signal);
    pendingPods.wrote(keyOf(set), metadata.resourceVersion);
  };
  await attempt({ verb: 'Update', podName, write }, writing, signal);
  recordPod('Update', podName, writing);
}

async function deletePod(pod: Cached<Pod>, writing: Writing, signal: AbortSignal): Promise<void> {
  const { client, pendingPods, set } = writing;
  const { name, uid } = pod.metadata;
  const write = async (): Promise<void> => {
    try {
      await client.delete(Pods, keyOf(pod), { preconditions: { uid } }, signal);
      pendingPods.deleted(keyOf(set), keyOf(pod), uid);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      pendingPods.vanished(keyOf(set), keyOf(pod), uid);
    }
  };
  await attempt({ verb: 'Delete', podName: name, write }, writing, signal);
  recordPod('Delete', name, writing);
}

/** Claims of a pod are missing. The message has the reason for each. */
export class ClaimsError extends Error {
  override readonly name = 'ClaimsError';
  readonly reason = 'ClaimsMissing';
}

/** Creates all missing claims, and throws afterwards if one could not be created. */
async function createClaims(
  { create, terminating }: ClaimsPlan,
  podName: string,
  writing: Writing,
  signal: AbortSignal,
): Promise<void> {
  const problems = terminating.map((name) => `pvc ${name} is being deleted`);
  let cause: unknown;
  for (const claim of create) {
    try {
      await createClaim(claim, podName, writing, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      cause ??= error;
      problems.push(`failed to create PVC ${claim.metadata.name}: ${serverMessage(error)}`);
    }
  }
  if (problems.length === 0) return;
  const message = problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`;
  throw new ClaimsError(message, { cause });
}

async function createClaim(
  claim: Unsaved<Claim>,
  podName: string,
  { client, pendingClaims, recorder, set }: Writing,
  signal: AbortSignal,
): Promise<void> {
  const { name } = claim.metadata;
  const about = set.metadata.name;
  try {
    const { metadata } = await client.create(metadataOf(PersistentVolumeClaims), claim, signal);
    pendingClaims.wrote(keyOf(set), metadata.resourceVersion);
    const message = `Create Claim ${name} Pod ${podName} in StatefulSet ${about} success`;
    recorder.event(StatefulSets, set, { type: 'Normal', reason: 'SuccessfulCreate', message });
  } catch (error) {
    if (!signal.aborted && !isAlreadyExists(error) && !isNamespaceTerminating(error)) {
      const text = serverMessage(error);
      const message = `Create Claim ${name} for Pod ${podName} in StatefulSet ${about} failed error: ${text}`;
      recorder.event(StatefulSets, set, { type: 'Warning', reason: 'FailedCreate', message });
    }
    throw error;
  }
}

/** Sets the owners of claims as the retention policy requires. */
async function applyRetention(
  { conflicts, update }: RetentionPlan,
  writing: Writing,
  signal: AbortSignal,
): Promise<void> {
  const { client, pendingClaims, recorder, set } = writing;
  for (const name of conflicts) {
    // The words of the Go binary, so that events of both can be found by one search.
    const message = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`;
    recorder.event(StatefulSets, set, { type: 'Warning', reason: 'ConflictingController', message });
  }
  for (const { claim, owners } of update) {
    const changed = copyOf<Claim>(claim);
    changed.metadata.ownerReferences = owners.map((owner) => copyOf<OwnerReference>(owner));
    try {
      const { metadata } = await client.update(metadataOf(PersistentVolumeClaims), changed, signal);
      pendingClaims.wrote(keyOf(set), metadata.resourceVersion);
    } catch (error) {
      const text = `could not update claim ${claim.metadata.name} for delete policy ownerRefs: ${serverMessage(error)}`;
      throw new ClaimsError(text, { cause: error });
    }
  }
}

type Verb = 'Create' | 'Update' | 'Delete';

function recordPod(verb: Verb, podName: string, { recorder, set }: Writing): void {
  const message = `${verb} Pod ${podName} in StatefulSet ${set.metadata.name} successful`;
  recorder.event(StatefulSets, set, { type: 'Normal', reason: `Successful${verb}`, message });
}

/** A conflict gets no event: the next sync decides with a newer cache. A terminating namespace accepts no events. */
function recordFailure(verb: Verb, podName: string, error: unknown, { recorder, set }: Writing): void {
  if (isConflict(error) || isNamespaceTerminating(error)) return;
  const text = error instanceof ClaimsError ? error.message : serverMessage(error);
  const message = `${verb} Pod ${podName} in StatefulSet ${set.metadata.name} failed error: ${text}`;
  recorder.event(StatefulSets, set, { type: 'Warning', reason: `Failed${verb}`, message });
}

/** A write for a pod, with an event if it fails. */
interface Attempt {
  readonly verb: Verb;
  readonly podName: string;
  write(): Promise<void>;
}

async function attempt({ verb, podName, write }: Attempt, writing: Writing, signal: AbortSignal): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!signal.aborted) recordFailure(verb, podName, error, writing);
    throw error;
  }
}
