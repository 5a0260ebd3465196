import type { TimeZone } from './time-zone.ts';

/** The values of one field that a schedule names. */
export interface FieldValues {
  readonly values: ReadonlySet<number>;
  /** Given as `*`: then the other field for days decides alone. */
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

/** Leap days are four years apart, but for 1900 and 2100. */
const maxYearsAhead = 5;

interface Unit {
  matches(calendar: Calendar, wall: Date): boolean;
  /** The beginning of the unit that a moment lies in. */
  floor(atMs: number, zone: TimeZone): number;
  next(atMs: number, zone: TimeZone): number;
  /** Whether the larger unit has moved on as well. */
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
    if (nextMs <= atMs) nextMs = atMs + dayMs; // a country that crosses the date line leaves out a whole day
    // Where clocks change at midnight, this may come out beside it. East of Greenwich, going back from one o'clock
    // then leads into the day before, and the day of the change is passed over: schedules have always run like that.
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

/** Schedules name whole minutes: the only second that matches is the first. */
const second: Unit = {
  matches: (_calendar, wall) => wall.getUTCSeconds() === 0,
  floor: (atMs) => atMs,
  next: (atMs) => atMs - (atMs % minuteMs) + minuteMs,
  isFirst: () => true,
};

const units: readonly Unit[] = [month, day, hour, minute, second];

/**
 * The first matching minute after a moment; undefined if none comes within five years. Moves on by the largest unit
 * that does not match, and starts over when a move has carried into the next larger one.
 *
 * Around changes of the clocks this gives what the cron library of the Go binary gives, oddities included, as users
 * compare: a time that clocks skip is skipped, a time that they show twice matches twice, and a change at midnight may
 * hide that a day has begun.
 */
export function nextInCalendar(calendar: Calendar, zone: TimeZone, afterMs: number): number | undefined {
  // A field may be nothing but commas. Looking for a minute that never comes, one by one, would take a second.
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
    // Only the first move starts in the middle of a unit: all later ones start where one begins.
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
