import { keyOf, type Job, type Pod } from '../../pkg/api/index.ts';
import type { KeySink } from '../../pkg/controller/index.ts';
import type { Handler } from '../../informers/index.ts';
import { externalManagerOf } from './job-spec.ts';
import type { JobMetrics } from './metrics.ts';

export interface JobHandlerDeps {
  /** Syncs the Job at once. */
  readonly queue: KeySink;
  /** Syncs the Job after a delay, together with other changes. */
  readonly batched: KeySink;
  readonly metrics: JobMetrics;
  /** Removes the finalizers of the Job's remaining pods. */
  readonly releasePodsOf: (jobUid: string) => void;
}

export function createJobHandler({ queue, batched, metrics, releasePodsOf }: JobHandlerDeps): Handler<Job> {
  return {
    added(job) {
      queue.add(keyOf(job));
      const manager = externalManagerOf(job);
      if (manager !== undefined) metrics.managedExternally(manager);
    },
    updated(before, after) {
      // A new generation is a change by a user. Other updates are mostly own status writes.
      const sink = before.metadata.generation === after.metadata.generation ? batched : queue;
      sink.add(keyOf(after));
    },
    deleted(last) {
      queue.add(keyOf(last));
      releasePodsOf(last.metadata.uid);
    },
  };
}

/** Counts the finished pods that get or lose the tracking finalizer. */
export function countTrackedPods(metrics: JobMetrics): Handler<Pod> {
  return {
    added: (pod) => metrics.podChanged(undefined, pod),
    updated: (before, after) => metrics.podChanged(before, after),
    deleted: (last) => metrics.podChanged(last, undefined),
  };
}
