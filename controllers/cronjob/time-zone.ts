const dayMs = 86_400_000;

/** A few years of days: what one search through a calendar may pass. */
const maxDaysKnown = 4000;

/** How far the clocks of one place are from UTC, as the time zone database of the runtime has it. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  /** The offset of each day of UTC asked about; undefined for days on which clocks change. */
  readonly #offsetOfDay = new Map<number, number | undefined>();

  /** Throws a RangeError if there is no such place. */
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

  /** What clocks show at this moment, as the moment at which those of UTC show the same. */
  wallMs(atMs: number): number {
    return atMs + this.offsetMs(atMs);
  }

  /**
   * The moment at which clocks show this. Where that is none, or one of two, it is whichever Go's `time.Date` takes:
   * the offset is guessed from the wall time read as UTC, and looked up once more at the moment that this gives.
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

/** Time zones by name. Each is built once: the runtime takes its time over it. */
export class TimeZones {
  readonly #byName = new Map<string, TimeZone>();

  find(name: string): TimeZone | undefined {
    let zone = this.#byName.get(name);
    if (zone !== undefined) return zone;
    if (!/^[A-Za-z]/.test(name)) return undefined; // the runtime would take bare offsets too, other programs do not
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

/** The moment as RFC 3339 writes it in this zone. */
export function formatInZone(atMs: number, zone: TimeZone): string {
  const offsetMinutes = Math.round(zone.offsetMs(atMs) / 60_000);
  const wall = new Date(zone.wallMs(atMs)).toISOString().slice(0, 19);
  if (offsetMinutes === 0) return `${wall}Z`;
  const twoDigits = (value: number): string => String(Math.trunc(value)).padStart(2, '0');
  const distance = Math.abs(offsetMinutes);
  return `${wall}${offsetMinutes < 0 ? '-' : '+'}${twoDigits(distance / 60)}:${twoDigits(distance % 60)}`;
}
