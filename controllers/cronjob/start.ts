import {
  parseTime,
  isBeingDeleted,
  zeroTimeMs,
  type Cached,
  type CronJob,
  type CronJobStatus,
} from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { jobNameFor } from './jobs.ts';
import { computeWakeUp, findMostRecent } from './missed.ts';
import { parseSchedule, type Schedule } from './schedule.ts';
import { ScheduleError } from './schedule-field.ts';
import type { TimeZone, TimeZones } from './time-zone.ts';

/** The time zones by name, and the local one for CronJobs without a `timeZone`. */
export interface Clocks {
  readonly zones: TimeZones;
  readonly local: TimeZone;
}

export interface StartPlan {
  readonly events: readonly NewEvent[];
  /** The schedule time of the Job to start now; undefined if none is due. */
  readonly scheduledMs?: number | undefined;
  /** Delete the active Jobs first. */
  readonly replace?: boolean | undefined;
  /** When to requeue; undefined if nothing is due before the CronJob changes. */
  readonly wakeUpMs?: number | undefined;
}

/** Decides whether to start a Job. `status` must not list ended Jobs any more. */
export function planStart(
  cronJob: Cached<CronJob>,
  status: Cached<CronJobStatus>,
  nowMs: number,
  clocks: Clocks,
): StartPlan {
  const { timeZone, suspend, schedule: text } = cronJob.spec;
  if (isBeingDeleted(cronJob.metadata)) return { events: [] };
  if (timeZone !== undefined && clocks.zones.find(timeZone) === undefined) {
    const message = `invalid timeZone: ${JSON.stringify(timeZone)}: unknown time zone ${timeZone}`;
    return { events: [warning('UnknownTimeZone', message)] };
  }
  if (suspend === true) return { events: [] };
  const events = text.includes('TZ') ? [warning('UnsupportedSchedule', unsupportedZone(text))] : [];
  const schedule = scheduleOf(cronJob, clocks);
  if (schedule instanceof ScheduleError) {
    const message = `unparseable schedule: ${JSON.stringify(text)} : ${schedule.message}`;
    return { events: [...events, warning('UnparseableSchedule', message)] };
  }
  const plan = planDue({ cronJob, status, schedule, nowMs });
  return { ...plan, events: [...events, ...plan.events] };
}

interface DueInput {
  readonly cronJob: Cached<CronJob>;
  readonly status: Cached<CronJobStatus>;
  readonly schedule: Schedule;
  readonly nowMs: number;
}

function planDue({ cronJob, status, schedule, nowMs }: DueInput): StartPlan {
  const { metadata, spec } = cronJob;
  const startMs = startOf(cronJob, status);
  // Times past the deadline are not found, so there is no event for them.
  const mostRecent = findMostRecent(schedule, { startMs, deadlineSeconds: spec.startingDeadlineSeconds }, nowMs);
  if (mostRecent.kind === 'never') {
    const message = `invalid schedule: ${spec.schedule} : time difference between two schedules is less than 1 second`;
    return { events: [warning('InvalidSchedule', message)] };
  }
  const events: NewEvent[] = [];
  const wait = { events, wakeUpMs: computeWakeUp(schedule, startMs, nowMs) };
  const { dueMs, tooManyMissed } = mostRecent;
  if (dueMs === undefined) return wait;
  if (tooManyMissed) events.push(warning('TooManyMissedTimes', tooManyMissedText));
  const active = status.active ?? [];
  const jobName = jobNameFor(metadata.name, dueMs);
  const isStarted = active.some(({ name, namespace }) => name === jobName && namespace === metadata.namespace);
  if (isStarted || (parseTime(status.lastScheduleTime) !== undefined && startMs === dueMs)) return wait;
  if (spec.concurrencyPolicy === 'Forbid' && active.length > 0) {
    events.push({ type: 'Normal', reason: 'JobAlreadyActive', message: alreadyActiveText });
    return wait;
  }
  return {
    events,
    scheduledMs: dueMs,
    replace: spec.concurrencyPolicy === 'Replace',
    wakeUpMs: computeWakeUp(schedule, dueMs, nowMs),
  };
}

/** When a CronJob with a changed schedule is due next. */
export function planAfterChange(cronJob: Cached<CronJob>, nowMs: number, clocks: Clocks): StartPlan {
  const schedule = scheduleOf(cronJob, clocks);
  if (schedule instanceof ScheduleError) {
    const message = `unparseable schedule for cronjob: ${cronJob.spec.schedule}`;
    return { events: [warning('UnParseableCronJobSchedule', message)] };
  }
  return { events: [], wakeUpMs: computeWakeUp(schedule, startOf(cronJob, cronJob.status ?? {}), nowMs) };
}

/** A time zone in the schedule takes precedence over `timeZone`. The API server rejects it only in new objects. */
function scheduleOf({ spec }: Cached<CronJob>, { zones, local }: Clocks): Schedule | ScheduleError {
  const zone = spec.timeZone === undefined ? undefined : zones.find(spec.timeZone);
  try {
    return parseSchedule(spec.schedule, zone ?? local, zones);
  } catch (error) {
    if (error instanceof ScheduleError) return error;
    throw error;
  }
}

function startOf({ metadata }: Cached<CronJob>, { lastScheduleTime }: Cached<CronJobStatus>): number {
  return parseTime(lastScheduleTime) ?? parseTime(metadata.creationTimestamp) ?? zeroTimeMs;
}

const tooManyMissedText =
  'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
const alreadyActiveText = 'Not starting job because prior execution is running and concurrency policy is Forbid';

function unsupportedZone(schedule: string): string {
  const where = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/';
  const what = `CRON_TZ or TZ used in schedule ${JSON.stringify(schedule)} is not officially supported`;
  return `${what}, see ${where} for more details`;
}

function warning(reason: string, message: string): NewEvent {
  return { type: 'Warning', reason, message };
}
