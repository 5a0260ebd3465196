import { parseTime, type Cached, type CronJobStatus, type Job, type ObjectReference } from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { endOf } from './jobs.ts';

export interface Review {
  /** The status without ended Jobs, with the time of the last success. */
  readonly status: Cached<CronJobStatus>;
  readonly events: readonly NewEvent[];
  /** Jobs that are listed as active but are not in the cache. */
  readonly unseen: readonly Cached<ObjectReference>[];
}

/** Compares the list of active Jobs with the Jobs in the cache. */
export function reviewActive(status: Cached<CronJobStatus>, jobs: readonly Cached<Job>[]): Review {
  const events: NewEvent[] = [];
  const ended = new Set<string>();
  let { lastSuccessfulTime } = status;
  for (const job of jobs) {
    const { uid, name } = job.metadata;
    const end = endOf(job);
    if (end === undefined) continue;
    if (isActive(status, uid)) {
      ended.add(uid);
      const message = `Saw completed job: ${name}, condition: ${end}`;
      events.push({ type: 'Normal', reason: 'SawCompletedJob', message });
    }
    if (end === 'Complete') lastSuccessfulTime = later(lastSuccessfulTime, job.status?.completionTime);
  }
  const known = new Set(jobs.map(({ metadata }) => metadata.uid));
  const reviewed = withoutActive(status, ended);
  return {
    status: parseTime(lastSuccessfulTime) === undefined ? reviewed : { ...reviewed, lastSuccessfulTime },
    events,
    unseen: (reviewed.active ?? []).filter(({ uid }) => !known.has(uid ?? '')),
  };
}

/** Running Jobs that the status does not list: a user created them, or we crashed before the status write. */
export function selectUnexpected(status: Cached<CronJobStatus>, jobs: readonly Cached<Job>[]): readonly Cached<Job>[] {
  return jobs.filter((job) => endOf(job) === undefined && !isActive(status, job.metadata.uid));
}

export function isActive({ active }: Cached<CronJobStatus>, uid: string): boolean {
  return active?.some((reference) => reference.uid === uid) ?? false;
}

export function withoutActive(status: Cached<CronJobStatus>, uids: ReadonlySet<string>): Cached<CronJobStatus> {
  if (uids.size === 0 || status.active === undefined) return status;
  return { ...status, active: status.active.filter(({ uid }) => !uids.has(uid ?? '')) };
}

type Time = string | null | undefined;

function later(a: Time, b: Time): Time {
  return (parseTime(b) ?? -Infinity) > (parseTime(a) ?? -Infinity) ? b : a;
}
