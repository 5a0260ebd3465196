import type { FieldValues } from './calendar.ts';

/** An invalid schedule. Users see the message in an event. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
  readonly reason = 'InvalidSchedule';
}

export interface FieldRange {
  readonly min: number;
  readonly max: number;
  /** The names of the values from `min` on, in lower case. */
  readonly names?: readonly string[];
}

/** Parses one field: `*`, values, ranges and steps, separated by commas. */
export function parseField(field: string, range: FieldRange): FieldValues {
  const values = new Set<number>();
  let isAny = false;
  for (const part of field.split(',')) {
    if (part === '') continue;
    const { from, to, step, isStar } = parsePart(part, range);
    for (let value = from; value <= to; value += step) values.add(value);
    if (isStar) isAny = true;
  }
  return { values, isAny };
}

interface Part {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly isStar: boolean;
}

function parsePart(part: string, range: FieldRange): Part {
  const [span = '', stepText, ...slashes] = part.split('/');
  const ends = span.split('-');
  const [low = '', high] = ends;
  const isStar = low === '*' || low === '?';
  const from = isStar ? range.min : parseValue(low, range);
  if (!isStar && ends.length > 2) throw new ScheduleError(`too many hyphens: ${part}`);
  let to = isStar ? range.max : high === undefined ? from : parseValue(high, range);
  if (slashes.length > 0) throw new ScheduleError(`too many slashes: ${part}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  if (stepText !== undefined && high === undefined) to = range.max; // a value with a step is a range up to the maximum
  check(part, { from, to, step }, range);
  return { from, to, step, isStar: isStar && step === 1 };
}

function check(part: string, { from, to, step }: Omit<Part, 'isStar'>, { min, max }: FieldRange): void {
  if (from < min) throw new ScheduleError(`beginning of range (${from}) below minimum (${min}): ${part}`);
  if (to > max) throw new ScheduleError(`end of range (${to}) above maximum (${max}): ${part}`);
  if (from > to) throw new ScheduleError(`beginning of range (${from}) beyond end of range (${to}): ${part}`);
  if (step === 0) throw new ScheduleError(`step of range should be a positive number: ${part}`);
}

function parseValue(text: string, { min, names }: FieldRange): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  return named < 0 ? parseNumber(text) : min + named;
}

function parseNumber(text: string): number {
  const value = /^[-+]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) {
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  if (value < 0) throw new ScheduleError(`negative number (${value}) not allowed: ${text}`);
  return value;
}
