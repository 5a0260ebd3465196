import {
  apiVersionOf,
  controllerReference,
  copyOf,
  CronJobs,
  Jobs,
  parseTime,
  isBeingDeleted,
  type Cached,
  type CronJob,
  type Job,
  type JobTemplateSpec,
  type KubeObject,
  type ObjectReference,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { formatInZone, type TimeZone } from './time-zone.ts';

const scheduledTimestampAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** The name contains the minute, so that a run cannot be started twice, not even after a crash. */
export function jobNameFor(cronJobName: string, scheduledMs: number): string {
  return `${cronJobName}-${Math.floor(scheduledMs / 60_000)}`;
}

export function jobFromTemplate(cronJob: Cached<CronJob>, scheduledMs: number, zone: TimeZone): Unsaved<Job> {
  const { metadata, spec } = copyOf<JobTemplateSpec>(cronJob.spec.jobTemplate);
  return {
    apiVersion: apiVersionOf(Jobs),
    kind: Jobs.kind,
    metadata: {
      name: jobNameFor(cronJob.metadata.name, scheduledMs),
      namespace: cronJob.metadata.namespace,
      labels: metadata?.labels,
      annotations: { ...metadata?.annotations, [scheduledTimestampAnnotation]: formatInZone(scheduledMs, zone) },
      ownerReferences: [controllerReference(CronJobs, cronJob)],
    },
    spec: spec ?? { template: {} },
  };
}

export function referenceTo({ metadata }: Cached<KubeObject>): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata;
  return { apiVersion: apiVersionOf(Jobs), kind: Jobs.kind, namespace, name, uid, resourceVersion };
}

/** How the Job ended; undefined if it has not. */
export function endOf(job: Cached<Job>): 'Complete' | 'Failed' | undefined {
  for (const { type, status } of job.status?.conditions ?? []) {
    if ((type === 'Complete' || type === 'Failed') && status === 'True') return type;
  }
  return undefined;
}

/** The finished Jobs beyond the history limits, oldest first. */
export function selectExpired(cronJob: Cached<CronJob>, jobs: readonly Cached<Job>[]): readonly Cached<Job>[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec;
  const surplus = (end: 'Complete' | 'Failed', limit: number | undefined): readonly Cached<Job>[] => {
    if (limit === undefined) return [];
    const ended = jobs.filter((job) => endOf(job) === end).sort(byStart);
    return ended.slice(0, Math.max(0, ended.length - limit));
  };
  return [...surplus('Complete', successfulJobsHistoryLimit), ...surplus('Failed', failedJobsHistoryLimit)].filter(
    ({ metadata }) => !isBeingDeleted(metadata),
  );
}

function byStart(a: Cached<Job>, b: Cached<Job>): number {
  const [startA, startB] = [startOf(a), startOf(b)];
  if (startA !== startB) return startA < startB ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

/** Jobs that never started come last. */
function startOf({ status }: Cached<Job>): number {
  return parseTime(status?.startTime) ?? Infinity;
}
