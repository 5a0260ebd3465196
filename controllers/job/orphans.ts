import {
  apiVersionOf,
  controllerOf,
  Jobs,
  keyOf,
  objectKey,
  Pods,
  isBeingDeleted,
  type Cached,
  type Job,
  type ObjectKey,
  type Pod,
} from '../../pkg/api/index.ts';
import { byController, type ControllerContext, type ReconcileResult } from '../../pkg/controller/index.ts';
import type { Handler, Store } from '../../informers/index.ts';
import { exponentialLimiter } from '../../workqueue/index.ts';
import { removeTrackingFinalizer } from './apply.ts';
import { isTracked } from './job-pods.ts';
import { externalManagerOf, isFinished } from './job-spec.ts';

/** Whether the pod has the tracking finalizer and no Job that would remove it. */
export function isOrphan(pod: Cached<Pod>, jobs: Pick<Store<Job>, 'get'>): boolean {
  if (!isTracked(pod)) return false;
  const owner = controllerOf(pod);
  if (owner === undefined) return true;
  if (owner.kind !== Jobs.kind || owner.apiVersion !== apiVersionOf(Jobs)) return false;
  const job = jobs.get(objectKey(pod.metadata.namespace, owner.name));
  if (job === undefined || job.metadata.uid !== owner.uid) return true;
  return externalManagerOf(job) === undefined && isFinished(job);
}

/** Removes the tracking finalizer of pods whose Job is gone or has finished. */
export function createOrphanControl(context: ControllerContext, clientName: string) {
  const client = context.clientFor(clientName);
  const jobs = context.informers.informerFor(Jobs).store;
  const pods = context.informers.informerFor(Pods).store;
  const queue = context.queueFor<ObjectKey>('job_orphan_pod', {
    rateLimiter: exponentialLimiter({ baseMs: 1000, maxMs: 60_000 }),
  });

  /** Skips a pod that has a controller and is not terminating: its Job may not be in the cache yet. */
  const enqueueIfOrphan = (pod: Cached<Pod>): void => {
    if (!isTracked(pod)) return;
    const isCandidate = isBeingDeleted(pod.metadata) || controllerOf(pod) === undefined;
    if (isCandidate && isOrphan(pod, jobs)) queue.add(keyOf(pod));
  };
  const podHandler: Handler<Pod> = {
    added: enqueueIfOrphan,
    updated: (before, after) => {
      if (before.metadata.resourceVersion !== after.metadata.resourceVersion) enqueueIfOrphan(after);
    },
  };

  /** Enqueues the tracked pods of a Job that is gone or has finished. */
  function releasePodsOf(jobUid: string): void {
    for (const pod of pods.byIndex(byController, jobUid)) if (isTracked(pod)) queue.add(keyOf(pod));
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const pod = pods.get(key);
    if (pod !== undefined && isOrphan(pod, jobs)) await removeTrackingFinalizer(client, pod, signal);
    return {};
  }

  return { work: { queue, reconcile }, podHandler, releasePodsOf };
}
