const dayMs = 86_400_000;

/** Days of a few years: one search may visit that many. */
const maxDaysKnown = 4000;

/** The UTC offsets of one time zone, from the database of the runtime. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  /** The offset of each UTC day; undefined for days on which the offset changes. */
  readonly #offsetOfDay = new Map<number, number | undefined>();

  /** Throws a RangeError for an unknown time zone. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  }

  offsetMs(atMs: number): number {
    const day = Math.floor(atMs / dayMs);
    let offset = this.#offsetOfDay.get(day);
    if (offset === undefined && !this.#offsetOfDay.has(day)) {
      offset = this.#ask(day * dayMs);
      if (offset !== this.#ask((day + 1) * dayMs)) offset = undefined;
      if (this.#offsetOfDay.size >= maxDaysKnown) this.#offsetOfDay.clear();
      this.#offsetOfDay.set(day, offset);
    }
    return offset ?? this.#ask(atMs);
  }

  /** The wall-clock time at this time, as the time at which clocks in UTC show the same. */
  wallMs(atMs: number): number {
    return atMs + this.offsetMs(atMs);
  }

  /**
   * The time at which clocks show this. If there is none, or if there are two, the result equals Go's `time.Date`: it
   * takes the offset at the wall time read as UTC, and then the offset at the resulting time.
   */
  momentOf(wallMs: number): number {
    return wallMs - this.offsetMs(wallMs - this.offsetMs(wallMs));
  }

  #ask(atMs: number): number {
    const [, sign, hours, minutes, seconds = '0'] =
      /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(this.#format.format(atMs)) ?? [];
    if (sign === undefined) return 0;
    const offset = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
    return sign === '-' ? -offset : offset;
  }
}

/** Time zones by name. Each is created once, because that is slow. */
export class TimeZones {
  readonly #byName = new Map<string, TimeZone>();

  find(name: string): TimeZone | undefined {
    let zone = this.#byName.get(name);
    if (zone !== undefined) return zone;
    if (!/^[A-Za-z]/.test(name)) return undefined; // the runtime also accepts offsets such as +01:00, Go does not
    try {
      zone = new TimeZone(name);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
    this.#byName.set(name, zone);
    return zone;
  }
}

/** The time in RFC 3339 format with the offset of this zone. */
export function formatInZone(atMs: number, zone: TimeZone): string {
  const offsetMinutes = Math.round(zone.offsetMs(atMs) / 60_000);
  const wall = new Date(zone.wallMs(atMs)).toISOString().slice(0, 19);
  if (offsetMinutes === 0) return `${wall}Z`;
  const twoDigits = (value: number): string => String(Math.trunc(value)).padStart(2, '0');
  const distance = Math.abs(offsetMinutes);
  return `${wall}${offsetMinutes < 0 ? '-' : '+'}${twoDigits(distance / 60)}:${twoDigits(distance % 60)}`;
}
