import { describe, expect, test } from 'vitest';

import { formatTime } from '../../pkg/api/index.ts';
import { computeWakeUp, findMostRecent } from './missed.ts';
import { parseSchedule, type Schedule } from './schedule.ts';
import { TimeZone, TimeZones } from './time-zone.ts';

const utc = new TimeZone('UTC');
const schedule = (text: string): Schedule => parseSchedule(text, utc, new TimeZones());
const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);

describe('findMostRecent', () => {
  const rows = [
    { name: 'finds nothing before the first time', text: '0 * * * *', now: '00:59:59', due: undefined, missed: 0 },
    { name: 'finds the first time when it is reached', text: '0 * * * *', now: '01:00:00', due: '01:00:00', missed: 0 },
    { name: 'finds the first time until the second', text: '0 * * * *', now: '01:59:59', due: '01:00:00', missed: 0 },
    { name: 'finds the last of several', text: '0 * * * *', now: '03:30:00', due: '03:00:00', missed: 3 },
    { name: 'accepts a hundred missed times', text: '* * * * *', now: '01:40:30', due: '01:40:00', missed: 100 },
    {
      name: 'reports more than a hundred missed times',
      text: '* * * * *',
      now: '01:41:00',
      due: '01:41:00',
      missed: 101,
      tooMany: true,
    },
    {
      name: 'ignores times before the deadline',
      text: '* * * * *',
      now: '12:00:30',
      deadlineSeconds: 60,
      due: '12:00:00',
      missed: 0,
    },
    {
      name: 'finds nothing within a deadline in which nothing was due',
      text: '0 * * * *',
      now: '01:30:00',
      deadlineSeconds: 60,
      due: undefined,
      missed: 0,
    },
    {
      name: 'finds the last time of an irregular schedule',
      text: '0 1,3,4,9 * * *',
      now: '10:00:00',
      due: '09:00:00',
      missed: 5,
    },
    {
      name: 'finds none for an irregular schedule whose last time is long past',
      text: '0,1,2 9,17 * * *',
      now: '12:00:00',
      due: undefined,
      missed: 181,
      tooMany: true,
    },
    { name: 'keeps the seconds of a period', text: '@every 90s', now: '00:10:00', due: '00:09:00', missed: 6 },
  ];
  for (const { name, text, now, deadlineSeconds, due, missed, tooMany = false } of rows) {
    test(name, () => {
      const found = findMostRecent(schedule(text), { startMs: at('00:00:00'), deadlineSeconds }, at(now));
      const dueMs = due === undefined ? undefined : at(due);
      expect(found).toEqual({ kind: 'found', dueMs, missed, tooManyMissed: tooMany });
    });
  }

  test('recognizes a schedule that never matches', () => {
    expect(findMostRecent(schedule('59 23 31 2 *'), { startMs: at('00:00:00') }, at('01:00:00'))).toEqual({
      kind: 'never',
    });
  });
});

describe('computeWakeUp', () => {
  const rows = [
    { name: 'is just after the first time', text: '0 * * * *', now: '00:10:00', expected: '2026-01-01T01:00:00Z' },
    {
      name: 'is after the next time when some were missed',
      text: '0 * * * *',
      now: '05:10:00',
      expected: '2026-01-01T06:00:00Z',
    },
    { name: 'can be far in the future', text: '@yearly', now: '05:10:00', expected: '2027-01-01T00:00:00Z' },
  ];
  for (const { name, text, now, expected } of rows) {
    test(name, () => {
      const wakeUpMs = computeWakeUp(schedule(text), at('00:00:00'), at(now)) ?? Number.NaN;
      expect(formatTime(wakeUpMs)).toBe(expected);
      expect(wakeUpMs % 1000).toBe(100);
    });
  }

  test('is never for a schedule without times', () => {
    expect(computeWakeUp(schedule('0 0 31 2 *'), at('00:00:00'), at('01:00:00'))).toBeUndefined();
  });
});
