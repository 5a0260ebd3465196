import { describe, expect, test } from 'vitest';

import { formatTime } from '../../pkg/api/index.ts';
import { parseSchedule } from './schedule.ts';
import { TimeZones } from './time-zone.ts';

const zones = new TimeZones();
const utc = zones.find('UTC');

/** The next `count` times after `from`; `never` if there are no more. */
function timesAfter(schedule: string, zoneName: string, from: string, count: number): string[] {
  const zone = zones.find(zoneName);
  if (zone === undefined) throw new Error(`no time zone ${zoneName}`);
  const { next } = parseSchedule(schedule, zone, zones);
  const times: string[] = [];
  for (let atMs = Date.parse(from); times.length < count;) {
    const nextMs = next(atMs);
    if (nextMs === undefined) return [...times, 'never'];
    times.push(formatTime(nextMs));
    atMs = nextMs;
  }
  return times;
}

/** A schedule, a zone, a moment, and the times after it that the cron library of the Go binary (v3.0.1) gives. */
type Row = readonly [schedule: string, zone: string, from: string, ...expected: string[]];

function testRows(rows: readonly Row[]): void {
  for (const [schedule, zone, from, ...expected] of rows) {
    test(`${schedule} in ${zone} after ${from}`, () => {
      expect(timesAfter(schedule, zone, from, expected.length)).toEqual(expected);
    });
  }
}

describe('next, where clocks change', () => {
  testRows([
    [
      '30 2 * * *',
      'America/New_York',
      '2026-03-07T00:00:00-05:00',
      '2026-03-07T07:30:00Z',
      '2026-03-09T06:30:00Z',
      '2026-03-10T06:30:00Z',
    ],
    [
      '30 1 * * *',
      'America/New_York',
      '2026-10-31T12:00:00-04:00',
      '2026-11-01T05:30:00Z',
      '2026-11-01T06:30:00Z',
      '2026-11-02T06:30:00Z',
    ],
    [
      '0 * * * *',
      'America/New_York',
      '2026-03-08T00:30:00-05:00',
      '2026-03-08T06:00:00Z',
      '2026-03-08T07:00:00Z',
      '2026-03-08T08:00:00Z',
    ],
    [
      '0 * * * *',
      'America/New_York',
      '2026-11-01T00:30:00-04:00',
      '2026-11-01T05:00:00Z',
      '2026-11-01T06:00:00Z',
      '2026-11-01T07:00:00Z',
      '2026-11-01T08:00:00Z',
    ],
    [
      '*/30 1-3 * * *',
      'America/New_York',
      '2026-03-08T00:59:00-05:00',
      '2026-03-08T06:00:00Z',
      '2026-03-08T06:30:00Z',
      '2026-03-08T07:00:00Z',
      '2026-03-08T07:30:00Z',
    ],
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00+01:00', '2026-03-30T00:30:00Z', '2026-03-31T00:30:00Z'],
    [
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00:00+02:00',
      '2026-10-25T00:30:00Z',
      '2026-10-25T01:30:00Z',
      '2026-10-26T01:30:00Z',
    ],
    ['0 3 * * 0', 'Europe/Berlin', '2026-03-28T12:00:00+01:00', '2026-03-29T01:00:00Z', '2026-04-05T01:00:00Z'],
    [
      '30 1 * * *',
      'Europe/London',
      '2026-10-24T12:00:00+01:00',
      '2026-10-25T00:30:00Z',
      '2026-10-25T01:30:00Z',
      '2026-10-26T01:30:00Z',
    ],
    [
      '0 0 * * *',
      'America/Sao_Paulo',
      '2018-11-02T12:00:00-03:00',
      '2018-11-03T03:00:00Z',
      '2018-11-05T02:00:00Z',
      '2018-11-06T02:00:00Z',
    ],
    [
      '30 0 * * *',
      'America/Sao_Paulo',
      '2018-11-02T12:00:00-03:00',
      '2018-11-03T03:30:00Z',
      '2018-11-05T02:30:00Z',
      '2018-11-06T02:30:00Z',
    ],
    ['0 5 * * 6', 'America/Sao_Paulo', '2018-11-03T22:30:00-03:00', '2018-11-04T07:00:00Z', '2018-11-10T07:00:00Z'],
    ['0 0 * * *', 'America/Havana', '2026-03-07T12:00:00-05:00', '2026-03-09T04:00:00Z', '2026-03-10T04:00:00Z'],
    [
      '30 0 * * *',
      'America/Havana',
      '2026-10-31T12:00:00-04:00',
      '2026-11-01T04:30:00Z',
      '2026-11-01T05:30:00Z',
      '2026-11-02T05:30:00Z',
    ],
    ['0 5 * * 5', 'Africa/Cairo', '2026-04-20T00:00:00+02:00', '2026-05-01T02:00:00Z', '2026-05-08T02:00:00Z'],
    ['0 5 * * *', 'Africa/Cairo', '2026-04-23T12:00:00+02:00', '2026-04-24T02:00:00Z', '2026-04-25T02:00:00Z'],
    [
      '30 23 * * *',
      'Africa/Cairo',
      '2026-10-29T12:00:00+03:00',
      '2026-10-29T20:30:00Z',
      '2026-10-29T21:30:00Z',
      '2026-10-30T21:30:00Z',
    ],
    ['0 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00+10:30', '2026-10-04T15:00:00Z', '2026-10-05T15:00:00Z'],
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00+10:30', '2026-10-04T15:15:00Z', '2026-10-05T15:15:00Z'],
    [
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2026-04-04T12:00:00+11:00',
      '2026-04-04T14:45:00Z',
      '2026-04-04T15:15:00Z',
      '2026-04-05T15:15:00Z',
    ],
    ['0 2 * * *', 'Antarctica/Troll', '2026-03-28T12:00:00+00:00', '2026-03-30T00:00:00Z', '2026-03-31T00:00:00Z'],
    ['45 2 * * *', 'Pacific/Chatham', '2026-09-26T12:00:00+12:45', '2026-09-26T14:00:00Z', '2026-09-27T13:00:00Z'],
    ['0 9 * * *', 'Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T03:30:00Z', '2026-01-02T03:30:00Z'],
    // Samoa had no 30th of December in 2011. The Go library loops forever on this one.
    ['0 12 30 12 *', 'Pacific/Apia', '2011-01-01T00:00:00Z', '2012-12-29T22:00:00Z'],
  ]);
});

describe('next, in leap years and with combined fields', () => {
  testRows([
    ['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z'],
    ['0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', 'never'],
    [
      '0 0 29 2 1',
      'UTC',
      '2026-02-01T00:00:00Z',
      '2026-02-02T00:00:00Z',
      '2026-02-09T00:00:00Z',
      '2026-02-16T00:00:00Z',
    ],
    [
      '0 0 31 * *',
      'UTC',
      '2026-01-31T00:00:00Z',
      '2026-03-31T00:00:00Z',
      '2026-05-31T00:00:00Z',
      '2026-07-31T00:00:00Z',
    ],
    ['59 23 31 2 *', 'UTC', '2026-01-01T00:00:00Z', 'never'],
    [
      '0 0 1,15 * */2',
      'UTC',
      '2026-01-01T00:00:00Z',
      '2026-01-03T00:00:00Z',
      '2026-01-04T00:00:00Z',
      '2026-01-06T00:00:00Z',
    ],
    [
      '0 0 13 * 5',
      'UTC',
      '2026-01-01T00:00:00Z',
      '2026-01-02T00:00:00Z',
      '2026-01-09T00:00:00Z',
      '2026-01-13T00:00:00Z',
    ],
    [
      '0 0 */2 * 5',
      'UTC',
      '2026-01-01T00:00:00Z',
      '2026-01-02T00:00:00Z',
      '2026-01-03T00:00:00Z',
      '2026-01-05T00:00:00Z',
    ],
    ['0 0 */1 * 5', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-09T00:00:00Z'],
    [
      '0 0 ? * MON-fri/2',
      'UTC',
      '2026-01-01T00:00:00Z',
      '2026-01-02T00:00:00Z',
      '2026-01-05T00:00:00Z',
      '2026-01-07T00:00:00Z',
    ],
    [
      '5/20 * * * *',
      'UTC',
      '2026-01-01T00:00:00Z',
      '2026-01-01T00:05:00Z',
      '2026-01-01T00:25:00Z',
      '2026-01-01T00:45:00Z',
    ],
    [
      '10-30/10,59 8,20 * JAN,Dec *',
      'UTC',
      '2026-01-31T20:58:00Z',
      '2026-01-31T20:59:00Z',
      '2026-12-01T08:10:00Z',
      '2026-12-01T08:20:00Z',
    ],
    ['*-5 0 1 1 *', 'UTC', '2026-01-01T00:03:30Z', '2026-01-01T00:04:00Z', '2026-01-01T00:05:00Z'],
    ['+5 01 * * *', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T01:05:00Z'],
    [', * * * *', 'UTC', '2026-01-01T00:00:00Z', 'never'],
  ]);
});

describe('next, for names and periods', () => {
  testRows([
    ['@yearly', 'UTC', '2026-06-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['@annually', 'UTC', '2026-06-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['@monthly', 'UTC', '2026-06-01T00:00:00Z', '2026-07-01T00:00:00Z'],
    ['@weekly', 'UTC', '2026-06-01T00:00:00Z', '2026-06-07T00:00:00Z'],
    ['@daily', 'UTC', '2026-06-01T00:00:00Z', '2026-06-02T00:00:00Z'],
    ['@midnight', 'UTC', '2026-06-01T00:00:00Z', '2026-06-02T00:00:00Z'],
    ['@hourly', 'UTC', '2026-06-01T00:00:00Z', '2026-06-01T01:00:00Z'],
    ['@every 1h30m', 'UTC', '2026-06-01T00:00:07Z', '2026-06-01T01:30:07Z', '2026-06-01T03:00:07Z'],
    ['@every 1.5s', 'UTC', '2026-06-01T00:00:07Z', '2026-06-01T00:00:08Z', '2026-06-01T00:00:09Z'],
    ['@every 10ms', 'UTC', '2026-06-01T00:00:07Z', '2026-06-01T00:00:08Z', '2026-06-01T00:00:09Z'],
    ['@every -1h', 'UTC', '2026-06-01T00:00:07Z', '2026-06-01T00:00:08Z'],
    ['TZ=Europe/Berlin 0 12 * * *', 'UTC', '2026-06-01T00:00:07Z', '2026-06-01T10:00:00Z'],
    ['CRON_TZ=Asia/Tokyo @daily', 'UTC', '2026-06-01T00:00:07Z', '2026-06-01T15:00:00Z'],
    ['TZ= 0 12 * * *', 'UTC', '2026-06-01T00:00:07Z', '2026-06-01T12:00:00Z'],
  ]);
});

describe('parseSchedule', () => {
  const rows: readonly (readonly [schedule: string, message: string])[] = [
    ['TZ=Nowhere/Land 0 12 * * *', 'provided bad location Nowhere/Land: unknown time zone Nowhere/Land'],
    ['', 'empty spec string'],
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['* * * * 7', 'end of range (7) above maximum (6): 7'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['* mon * * *', 'failed to parse int from mon: strconv.Atoi: parsing "mon": invalid syntax'],
    ['@never', 'unrecognized descriptor: @never'],
    ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
    ['@every 5', 'failed to parse duration @every 5: time: invalid duration "5"'],
    ['@every', 'unrecognized descriptor: @every'],
    ['TZ=UTC', 'invalid schedule format: no fields after the time zone'],
  ];
  for (const [schedule, message] of rows) {
    test(`rejects ${JSON.stringify(schedule)}`, () => {
      if (utc === undefined) throw new Error('no UTC');
      expect(() => parseSchedule(schedule, utc, zones)).toThrow(
        expect.objectContaining({ reason: 'InvalidSchedule', message }),
      );
    });
  }
});
