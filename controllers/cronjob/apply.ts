import {
  CronJobs,
  isControlledBy,
  isEqualJson,
  Jobs,
  keyOf,
  metadataOf,
  objectKey,
  parseTime,
  zeroTimeMs,
  type Cached,
  type CronJob,
  type CronJobStatus,
  type Job,
  type MetadataOnly,
  type ObjectReference,
  type Unsaved,
} from '../../pkg/api/index.ts';
import {
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isInvalidName,
  isNotFound,
  serverMessage,
  type Client,
} from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { Histogram } from '../../pkg/metrics/index.ts';
import { jobFromTemplate } from './jobs.ts';
import type { TimeZone } from './time-zone.ts';

/** Dependencies of all writes of this controller. */
export interface JobControl {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly pendingJobs: PendingWrites<Job>;
  readonly pendingStatus: PendingWrites<CronJob>;
  /** Seconds from the scheduled time of a Job until its creation. */
  readonly creationSkew: Histogram;
}

/**
 * Deletes the Job with this uid, never another Job of the same name. False after an error. A Job that is already gone
 * counts as deleted.
 */
export async function deleteJob(
  { client, recorder, pendingJobs }: JobControl,
  cronJob: Cached<CronJob>,
  { namespace, name = '', uid = '' }: Pick<Cached<ObjectReference>, 'namespace' | 'name' | 'uid'>,
  signal: AbortSignal,
): Promise<boolean> {
  const key = objectKey(namespace, name);
  try {
    await client.delete(Jobs, key, { propagationPolicy: 'Background', preconditions: { uid } }, signal);
  } catch (error) {
    if (isNotFound(error)) return true;
    if (signal.aborted || isConflict(error)) throw error; // a conflict: the next sync decides on a newer cache
    const message = `Deleted job: ${serverMessage(error)}`;
    recorder.event(CronJobs, cronJob, { type: 'Warning', reason: 'FailedDelete', message });
    return false;
  }
  pendingJobs.deleted(keyOf(cronJob), key, uid);
  recorder.event(CronJobs, cronJob, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${name}` });
  return true;
}

/** Creates the Job of one run. Undefined if a Job that the CronJob does not control has the name. */
export async function createJob(
  { client, recorder, pendingJobs, creationSkew }: JobControl,
  cronJob: Cached<CronJob>,
  { scheduledMs, zone }: { readonly scheduledMs: number; readonly zone: TimeZone },
  signal: AbortSignal,
): Promise<MetadataOnly | undefined> {
  const job = jobFromTemplate(cronJob, scheduledMs, zone);
  try {
    const created = await client.create(metadataOf(Jobs), job, signal);
    pendingJobs.wrote(keyOf(cronJob), created.metadata.resourceVersion);
    creationSkew.observe(((parseTime(created.metadata.creationTimestamp) ?? zeroTimeMs) - scheduledMs) / 1000);
    const message = `Created job ${created.metadata.name}`;
    recorder.event(CronJobs, cronJob, { type: 'Normal', reason: 'SuccessfulCreate', message });
    return created;
  } catch (error) {
    if (isAlreadyExists(error)) {
      const existing = await client.get(metadataOf(Jobs), keyOf(job), signal);
      return isControlledBy(existing, cronJob) ? existing : undefined;
    }
    if (!signal.aborted && !isNamespaceTerminating(error)) {
      const message = `Error creating job: ${serverMessage(error)}`;
      recorder.event(CronJobs, cronJob, { type: 'Warning', reason: 'FailedCreate', message });
    }
    throw error;
  }
}

/** Whether the API server does not have the Job. The cache may be stale, so it does not count. */
export async function isJobGone(
  { client }: JobControl,
  { namespace, name = '', uid }: Cached<ObjectReference>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const live = await client.get(metadataOf(Jobs), objectKey(namespace, name), signal);
    return live.metadata.uid !== uid;
  } catch (error) {
    // Users can write the status. An entry without a name must not fail every sync.
    if (isNotFound(error) || isInvalidName(error)) return true;
    throw error;
  }
}

/** Writes the status if it has changed. After a conflict, writes it once more if the live status is still the same. */
export async function applyStatus(
  { client, pendingStatus }: JobControl,
  cronJob: Cached<CronJob>,
  status: Cached<CronJobStatus>,
  signal: AbortSignal,
): Promise<void> {
  const isCurrent = (known: Cached<CronJobStatus> | undefined): boolean =>
    isEqualJson(known ?? {}, status, { emptyIsAbsent: true });
  if (isCurrent(cronJob.status)) return;
  const write = async (base: Cached<CronJob>): Promise<void> => {
    const updated = { ...base, status } as Unsaved<CronJob>;
    const { metadata } = await client.updateStatus(metadataOf(CronJobs), updated, signal);
    pendingStatus.wrote(keyOf(cronJob), metadata.resourceVersion);
  };
  try {
    await write(cronJob);
  } catch (error) {
    if (isNotFound(error)) return;
    if (!isConflict(error)) throw error;
    const live = await client.get(CronJobs, keyOf(cronJob), signal);
    const isSame = live.metadata.uid === cronJob.metadata.uid && isEqualJson(live.status, cronJob.status);
    if (!isSame) throw error; // the cache was stale: sync again
    await write(live);
  }
}
