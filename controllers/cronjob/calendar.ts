import type { TimeZone } from './time-zone.ts';

/** The values of one field of a schedule. */
export interface FieldValues {
  readonly values: ReadonlySet<number>;
  /** The field is `*`: only the other field for days counts. */
  readonly isAny: boolean;
}

export interface Calendar {
  readonly minutes: FieldValues;
  readonly hours: FieldValues;
  readonly daysOfMonth: FieldValues;
  readonly months: FieldValues;
  readonly daysOfWeek: FieldValues;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Long enough for a leap day, except around 1900 and 2100. */
const maxYearsAhead = 5;

interface Unit {
  matches(calendar: Calendar, wall: Date): boolean;
  /** The start of the unit that contains this time. */
  floor(atMs: number, zone: TimeZone): number;
  next(atMs: number, zone: TimeZone): number;
  /** Whether the next larger unit has changed too. */
  isFirst(wall: Date): boolean;
}

const month: Unit = {
  matches: ({ months }, wall) => months.values.has(wall.getUTCMonth() + 1),
  floor(atMs, zone) {
    const wall = wallAt(atMs, zone);
    return zone.momentOf(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), 1));
  },
  next(atMs, zone) {
    const wall = wallAt(atMs, zone);
    return zone.momentOf(wall.setUTCMonth(wall.getUTCMonth() + 1));
  },
  isFirst: (wall) => wall.getUTCMonth() === 0,
};

const day: Unit = {
  matches({ daysOfMonth, daysOfWeek }, wall) {
    const inMonth = daysOfMonth.values.has(wall.getUTCDate());
    const inWeek = daysOfWeek.values.has(wall.getUTCDay());
    return daysOfMonth.isAny || daysOfWeek.isAny ? inMonth && inWeek : inMonth || inWeek;
  },
  floor: (atMs, zone) => zone.momentOf(zone.wallMs(atMs) - (zone.wallMs(atMs) % dayMs)),
  next(atMs, zone) {
    let nextMs = zone.momentOf(zone.wallMs(atMs) + dayMs);
    if (nextMs <= atMs) nextMs = atMs + dayMs; // a country that crosses the date line skips a whole day
    // If clocks change at midnight, the result may be off by an hour. East of Greenwich the correction can then lead to
    // the day before, and the day of the change is skipped, as in the Go binary.
    const hours = wallAt(nextMs, zone).getUTCHours();
    return nextMs + (hours > 12 ? 24 - hours : -hours) * hourMs;
  },
  isFirst: (wall) => wall.getUTCDate() === 1,
};

const hour: Unit = {
  matches: ({ hours }, wall) => hours.values.has(wall.getUTCHours()),
  floor: (atMs, zone) => zone.momentOf(zone.wallMs(atMs) - (zone.wallMs(atMs) % hourMs)),
  next: (atMs) => atMs + hourMs,
  isFirst: (wall) => wall.getUTCHours() === 0,
};

const minute: Unit = {
  matches: ({ minutes }, wall) => minutes.values.has(wall.getUTCMinutes()),
  floor: (atMs) => atMs - (atMs % minuteMs),
  next: (atMs) => atMs + minuteMs,
  isFirst: (wall) => wall.getUTCMinutes() === 0,
};

/** Schedules have a resolution of minutes: only second 0 matches. */
const second: Unit = {
  matches: (_calendar, wall) => wall.getUTCSeconds() === 0,
  floor: (atMs) => atMs,
  next: (atMs) => atMs - (atMs % minuteMs) + minuteMs,
  isFirst: () => true,
};

const units: readonly Unit[] = [month, day, hour, minute, second];

/**
 * The first matching minute after this time; undefined if there is none within five years. Advances the largest unit
 * that does not match, and starts again when that changes a larger unit.
 *
 * Around changes of daylight saving time the result equals that of the Go binary's cron library: a skipped time does not
 * match, a repeated time matches twice, and a change at midnight may skip the day.
 */
export function nextInCalendar(calendar: Calendar, zone: TimeZone, afterMs: number): number | undefined {
  // A field may consist of commas only. Searching every minute of five years for a match would take a second.
  if (calendar.minutes.values.size === 0 || calendar.hours.values.size === 0) return undefined;
  let atMs = Math.floor(afterMs / 1000) * 1000 + 1000;
  const lastYear = wallAt(atMs, zone).getUTCFullYear() + maxYearsAhead;
  let hasMoved = false;
  for (let level = 0; ;) {
    const unit = units[level];
    if (unit === undefined) return atMs;
    if (unit.matches(calendar, wallAt(atMs, zone))) {
      level += 1;
      continue;
    }
    // Only the first step starts in the middle of a unit. All later steps start at the beginning of one.
    atMs = unit.next(hasMoved ? atMs : unit.floor(atMs, zone), zone);
    hasMoved = true;
    const wall = wallAt(atMs, zone);
    if (!unit.isFirst(wall)) continue;
    if (wall.getUTCFullYear() > lastYear) return undefined;
    level = 0;
  }
}

function wallAt(atMs: number, zone: TimeZone): Date {
  return new Date(zone.wallMs(atMs));
}
