import { describe, expect, test } from 'vitest';

import { formatTime, type CronJob, type CronJobStatus, type ObjectReference } from '../../pkg/api/index.ts';
import { cronJob, frozen } from '../../test/support/builders.ts';
import { jobNameFor } from './jobs.ts';
import { planAfterChange, planStart, type Clocks } from './start.ts';
import { TimeZone, TimeZones } from './time-zone.ts';

const clocks: Clocks = { zones: new TimeZones(), local: new TimeZone('UTC') };
/** On the first of January, or that many hours after its beginning. */
const at = (time: string): number => {
  const [hours = '', ...rest] = time.split(':');
  return Date.parse(`2026-01-01T00:${rest.join(':')}Z`) + Number(hours) * 3_600_000;
};
const hourly = '0 * * * *';
const reference = (name: string): ObjectReference => ({ name, namespace: 'default', uid: `uid-${name}` });

interface Row {
  readonly name: string;
  readonly spec?: Partial<CronJob['spec']>;
  readonly status?: CronJobStatus;
  readonly now: string;
  readonly scheduled?: string;
  readonly replace?: boolean;
  readonly events?: readonly string[];
  readonly wakeUp?: string;
}

const rows: readonly Row[] = [
  { name: 'waits for the first time', now: '00:59:59', wakeUp: '01:00:00' },
  { name: 'starts at the schedule time', now: '01:00:00', scheduled: '01:00:00', wakeUp: '02:00:00' },
  { name: 'starts late', now: '01:59:00', scheduled: '01:00:00', wakeUp: '02:00:00' },
  { name: 'starts only the last missed time', now: '05:30:00', scheduled: '05:00:00', wakeUp: '06:00:00' },
  {
    name: 'starts one and warns when more than a hundred were missed',
    spec: { schedule: '* * * * *' },
    now: '02:00:00',
    scheduled: '02:00:00',
    events: ['Warning TooManyMissedTimes'],
    wakeUp: '02:01:00',
  },
  {
    name: 'starts within the deadline',
    spec: { startingDeadlineSeconds: 60 },
    now: '01:00:59',
    scheduled: '01:00:00',
    wakeUp: '02:00:00',
  },
  {
    name: 'starts nothing after the deadline',
    spec: { startingDeadlineSeconds: 60 },
    now: '01:01:00',
    wakeUp: '02:00:00',
  },
  {
    name: 'does not start the last schedule time again',
    status: { lastScheduleTime: '2026-01-01T01:00:00Z' },
    now: '01:30:00',
    wakeUp: '02:00:00',
  },
  {
    name: 'does not start an active Job again',
    status: { active: [reference(jobNameFor('cronjob', at('01:00:00')))] },
    now: '01:30:00',
    wakeUp: '02:00:00',
  },
  {
    name: 'starts with an active Job and concurrencyPolicy Allow',
    status: { active: [reference('other')] },
    now: '01:30:00',
    scheduled: '01:00:00',
    wakeUp: '02:00:00',
  },
  {
    name: 'waits for an active Job with concurrencyPolicy Forbid',
    spec: { concurrencyPolicy: 'Forbid' },
    status: { active: [reference('other')] },
    now: '01:30:00',
    events: ['Normal JobAlreadyActive'],
    wakeUp: '02:00:00',
  },
  {
    name: 'replaces an active Job with concurrencyPolicy Replace',
    spec: { concurrencyPolicy: 'Replace' },
    status: { active: [reference('other')] },
    now: '01:30:00',
    scheduled: '01:00:00',
    replace: true,
    wakeUp: '02:00:00',
  },
  { name: 'does nothing while suspended', spec: { suspend: true }, now: '01:30:00' },
  {
    name: 'reports an unknown time zone',
    spec: { timeZone: 'Mars/Olympus_Mons' },
    now: '01:30:00',
    events: ['Warning UnknownTimeZone'],
  },
  {
    name: 'reports an unknown time zone also while suspended',
    spec: { timeZone: 'Mars/Olympus_Mons', suspend: true },
    now: '01:30:00',
    events: ['Warning UnknownTimeZone'],
  },
  {
    name: 'uses the time zone',
    spec: { schedule: '30 6 * * *', timeZone: 'Asia/Kolkata' },
    now: '01:00:00',
    scheduled: '01:00:00',
    wakeUp: '25:00:00',
  },
  {
    name: 'uses a time zone in the schedule, with a warning',
    spec: { schedule: 'TZ=Asia/Tokyo 0 10 * * *', timeZone: 'UTC' },
    now: '01:00:00',
    scheduled: '01:00:00',
    events: ['Warning UnsupportedSchedule'],
    wakeUp: '25:00:00',
  },
  {
    name: 'reports an invalid schedule',
    spec: { schedule: 'now and then' },
    now: '01:30:00',
    events: ['Warning UnparseableSchedule'],
  },
  {
    name: 'reports a schedule that never matches',
    spec: { schedule: '59 23 31 2 *' },
    now: '01:30:00',
    events: ['Warning InvalidSchedule'],
  },
];

describe('planStart', () => {
  for (const { name, spec, status = {}, now, scheduled, replace = false, events = [], wakeUp } of rows) {
    test(name, () => {
      const described = frozen(cronJob({ spec: { schedule: hourly, ...spec } }));
      const plan = planStart(described, status, at(now), clocks);
      expect(plan.scheduledMs).toBe(scheduled === undefined ? undefined : at(scheduled));
      expect(plan.replace ?? false).toBe(replace);
      expect(plan.events.map(({ type, reason }) => `${type} ${reason}`)).toEqual(events);
      expect(plan.wakeUpMs).toBe(wakeUp === undefined ? undefined : at(wakeUp) + 100);
    });
  }

  test('starts nothing for a terminating CronJob', () => {
    const going = cronJob({ metadata: { deletionTimestamp: '2026-01-01T01:00:00Z' } });
    expect(planStart(going, {}, at('01:30:00'), clocks)).toEqual({ events: [] });
  });
});

describe('planAfterChange', () => {
  test('waits for the next time of the new schedule', () => {
    const { wakeUpMs = Number.NaN } = planAfterChange(cronJob({ spec: { schedule: hourly } }), at('05:30:00'), clocks);
    expect(formatTime(wakeUpMs)).toBe('2026-01-01T06:00:00Z');
  });

  test('reports an invalid schedule', () => {
    expect(planAfterChange(cronJob({ spec: { schedule: 'x' } }), at('05:30:00'), clocks)).toEqual({
      events: [
        { type: 'Warning', reason: 'UnParseableCronJobSchedule', message: 'unparseable schedule for cronjob: x' },
      ],
    });
  });
});
