import { keyOf, type Cached, type Job, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import { recallStreak, type FailureStreak } from './backoff.ts';

/** The failure streak of each Job. It cannot always be computed from the pods: they may be deleted at any time. */
export class FailureStreaks {
  readonly #byJob = new Map<ObjectKey, { readonly uid: string; readonly streak: FailureStreak }>();

  /** The streak of the Job. If it is not known, as after a restart, it is computed from the pods. */
  of(job: Cached<Job>, pods: readonly Cached<Pod>[]): FailureStreak {
    const known = this.#byJob.get(keyOf(job));
    return known?.uid === job.metadata.uid ? known.streak : recallStreak(job, pods);
  }

  set(job: Cached<Job>, streak: FailureStreak): void {
    this.#byJob.set(keyOf(job), { uid: job.metadata.uid, streak });
  }

  forget(key: ObjectKey): void {
    this.#byJob.delete(key);
  }
}
