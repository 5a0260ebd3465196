import {
  copyOf,
  Jobs,
  keyOf,
  metadataOf,
  Pods,
  type Cached,
  type Job,
  type JobStatus,
  type ObjectKey,
  type Pod,
  type PodGroup,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isInvalid, isNamespaceTerminating, isNotFound, type Client } from '../../pkg/client/index.ts';
import {
  asError,
  createPod,
  deletePod,
  slowStart,
  type PendingWrites,
  type PodControl,
} from '../../pkg/controller/index.ts';
import { isPodReady } from '../../pkg/pods/index.ts';
import { isTracked, trackingFinalizer } from './job-pods.ts';
import type { JobMetrics } from './metrics.ts';
import { newIndexedPod, newPod } from './new-pods.ts';
import type { PodsOutcome } from './progress.ts';
import type { PodsPlan } from './scaling.ts';
import type { Assessment } from './assess.ts';

export interface ApplyDeps {
  readonly control: PodControl<Job>;
  readonly pendingPods: PendingWrites<Pod>;
  readonly pendingJobs: PendingWrites<Job>;
  readonly metrics: JobMetrics;
  /** New pods are scheduled together with the others of this group. Default: each for itself. */
  readonly podGroup?: Cached<PodGroup> | undefined;
}

/** Creates or deletes pods as planned. Returns the outcome with the first error: the status must show both. */
export async function applyPods(
  plan: PodsPlan,
  assessment: Assessment,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<PodsOutcome> {
  switch (plan.kind) {
    case 'create':
      return createPods(plan.indexes, assessment, deps, signal);
    case 'remove':
    case 'end': {
      const keepTracked = plan.kind === 'end';
      return deletePods(plan.pods, assessment.job, { ...deps, keepTracked }, signal);
    }
    case 'keep':
    case 'leave':
    case 'wait':
      return { created: 0, deleted: 0, deletedReady: 0, error: undefined };
  }
}

async function createPods(
  indexes: readonly (number | undefined)[],
  assessment: Assessment,
  { control, pendingPods, metrics, podGroup }: ApplyDeps,
  signal: AbortSignal,
): Promise<PodsOutcome> {
  const { job } = assessment;
  let created = 0;
  let failed = 0;
  const { error } = await slowStart(indexes.length, async (position) => {
    const index = indexes[position];
    const pod = index === undefined ? newPod(job) : newIndexedPod(job, index, assessment.indexes?.toReplace.get(index));
    if (podGroup !== undefined) pod.spec.schedulingGroup = { podGroupName: podGroup.metadata.name };
    try {
      const { metadata } = await createPod(control, job, pod, signal);
      pendingPods.wrote(keyOf(job), metadata.resourceVersion);
      created++;
    } catch (failure) {
      if (isNamespaceTerminating(failure)) return; // a terminating namespace accepts no pods
      failed++;
      throw failure;
    }
  });
  metrics.podsCreated(assessment, created, failed);
  return { created, deleted: 0, deletedReady: 0, error };
}

async function deletePods(
  pods: readonly Cached<Pod>[],
  job: Cached<Job>,
  deps: ApplyDeps & { readonly keepTracked: boolean },
  signal: AbortSignal,
): Promise<PodsOutcome> {
  const jobKey = keyOf(job);
  const results = await Promise.allSettled(
    pods.map(async (pod) => {
      // The pod must not be counted. If it were deleted first, a crash before the release would let it be counted.
      if (!deps.keepTracked && isTracked(pod)) await releasePod(pod, jobKey, deps, signal);
      if (await deletePod(deps.control, job, pod, signal)) {
        deps.pendingPods.deleted(jobKey, keyOf(pod), pod.metadata.uid);
      }
      return pod;
    }),
  );
  const deleted = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failure = results.find((result) => result.status === 'rejected');
  return {
    created: 0,
    deleted: deleted.length,
    deletedReady: deleted.filter(isPodReady).length,
    error: failure === undefined ? undefined : asError(failure.reason),
  };
}

/** Removes the finalizer of each pod. Returns the uids of the pods without it, and the first error. */
export async function releasePods(
  pods: readonly Cached<Pod>[],
  jobKey: ObjectKey,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<{ readonly released: ReadonlySet<string>; readonly error: Error | undefined }> {
  const results = await Promise.allSettled(pods.map((pod) => releasePod(pod, jobKey, deps, signal)));
  const released = pods.filter((_, position) => results[position]?.status === 'fulfilled');
  const failure = results.find((result) => result.status === 'rejected');
  return {
    released: new Set(released.map(({ metadata }) => metadata.uid)),
    error: failure === undefined ? undefined : asError(failure.reason),
  };
}

async function releasePod(
  pod: Cached<Pod>,
  jobKey: ObjectKey,
  { control, pendingPods }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const resourceVersion = await removeTrackingFinalizer(control.client, pod, signal);
  // A stale cache shows the pod with its finalizer, as if it had not been counted yet.
  if (resourceVersion === undefined) pendingPods.vanished(jobKey, keyOf(pod), pod.metadata.uid);
  else pendingPods.wrote(jobKey, resourceVersion);
}

/** Returns the pod's new resource version; undefined if the pod is gone, or another pod has its name. */
export async function removeTrackingFinalizer(
  client: Client,
  pod: Cached<Pod>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const body = {
    metadata: { uid: pod.metadata.uid, '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] },
  };
  try {
    const { metadata } = await client.patch(metadataOf(Pods), keyOf(pod), { type: 'strategic', body }, signal);
    return metadata.resourceVersion;
  } catch (error) {
    if (isNotFound(error) || isInvalid(error)) return undefined;
    throw error;
  }
}

/**
 * Writes the status to the version of the Job that it was computed from. After a conflict its counters may be wrong, and
 * a new sync must compute them. Returns the Job after the write.
 */
export async function writeStatus(
  job: Cached<Job>,
  status: JobStatus,
  { control, pendingJobs, metrics }: ApplyDeps,
  signal: AbortSignal,
): Promise<Cached<Job>> {
  const updated: Unsaved<Job> = { ...copyOf<Job>(job), status };
  const { metadata } = await control.client.updateStatus(metadataOf(Jobs), updated, signal);
  pendingJobs.wrote(keyOf(job), metadata.resourceVersion);
  metrics.counted(job, job.status ?? {}, status);
  return { ...job, metadata, status };
}
