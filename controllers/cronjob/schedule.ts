import { ownValue } from '../../pkg/api/index.ts';
import { parseDuration } from '../../pkg/time/index.ts';
import { nextInCalendar, type Calendar, type FieldValues } from './calendar.ts';
import { parseField, ScheduleError, type FieldRange } from './schedule-field.ts';
import type { TimeZone, TimeZones } from './time-zone.ts';

export interface Schedule {
  /** The first time after `afterMs`, a whole second; undefined if there is none within five years. */
  next(afterMs: number): number | undefined;
}

const minuteRange: FieldRange = { min: 0, max: 59 };
const hourRange: FieldRange = { min: 0, max: 23 };
const dayOfMonthRange: FieldRange = { min: 1, max: 31 };
const monthRange: FieldRange = {
  min: 1,
  max: 12,
  names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
};
const dayOfWeekRange: FieldRange = { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] };

const named: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const everyPrefix = '@every ';

/**
 * Parses five fields, a name such as `@daily`, or `@every` with a duration. A prefix `TZ=` or `CRON_TZ=` sets the time
 * zone; the default is `zone`. Throws a `ScheduleError` with the message of the Go binary.
 */
export function parseSchedule(text: string, zone: TimeZone, zones: TimeZones): Schedule {
  if (text === '') throw new ScheduleError('empty spec string');
  const prefix = /^(?:CRON_)?TZ=/.exec(text)?.[0];
  if (prefix === undefined) return parseUnprefixed(text, zone);
  const end = text.indexOf(' ');
  if (end < 0) throw new ScheduleError('invalid schedule format: no fields after the time zone');
  const name = text.slice(prefix.length, end);
  const own = zones.find(name === '' ? 'UTC' : name);
  if (own === undefined) throw new ScheduleError(`provided bad location ${name}: unknown time zone ${name}`);
  return parseUnprefixed(text.slice(end).trim(), own);
}

function parseUnprefixed(text: string, zone: TimeZone): Schedule {
  if (text.startsWith(everyPrefix)) return parseEvery(text);
  const fields = text.startsWith('@') ? ownValue(named, text) : text;
  if (fields === undefined) throw new ScheduleError(`unrecognized descriptor: ${text}`);
  const calendar = parseCalendar(fields.split(/\s+/).filter((field) => field !== ''));
  return { next: (afterMs) => nextInCalendar(calendar, zone, afterMs) };
}

function parseEvery(text: string): Schedule {
  let periodMs: number;
  try {
    periodMs = parseDuration(text.slice(everyPrefix.length));
  } catch (error) {
    const reason = `time: invalid duration ${JSON.stringify(text.slice(everyPrefix.length))}`;
    throw new ScheduleError(`failed to parse duration ${text}: ${reason}`, { cause: error });
  }
  const wholeSecondsMs = Math.max(1, Math.floor(periodMs / 1000)) * 1000;
  return { next: (afterMs) => Math.floor(afterMs / 1000) * 1000 + wholeSecondsMs };
}

function parseCalendar(fields: readonly string[]): Calendar {
  const [minutes, hours, daysOfMonth, months, daysOfWeek, ...more] = fields;
  if (daysOfWeek === undefined || more.length > 0) {
    throw new ScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  const parse = (field: string | undefined, range: FieldRange): FieldValues => parseField(field ?? '', range);
  return {
    minutes: parse(minutes, minuteRange),
    hours: parse(hours, hourRange),
    daysOfMonth: parse(daysOfMonth, dayOfMonthRange),
    months: parse(months, monthRange),
    daysOfWeek: parse(daysOfWeek, dayOfWeekRange),
  };
}
