import { parseTime, type Cached, type UntypedObject } from '../../api/index.ts';

export interface Column {
  readonly name: string;
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'date' | undefined;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  /** Above zero: shown only with `-o wide`. */
  readonly priority?: number | undefined;
  cell(object: Cached<UntypedObject>, nowMs: number): unknown;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** The age, in about two digits. */
export function age(time: string | undefined | null, nowMs: number): string {
  const ms = parseTime(time);
  return ms === undefined ? '<unknown>' : formatAge(nowMs - ms);
}

/** A duration for humans: the longer it is, the less precise. */
export function formatAge(ms: number): string {
  if (ms < -1 * second) return '<invalid>';
  if (ms < 0) return '0s';
  const parts = (large: number, name: string, small: number, smallName: string): string => {
    const whole = Math.floor(ms / large);
    const rest = Math.floor((ms - whole * large) / small);
    return rest === 0 ? `${whole}${name}` : `${whole}${name}${rest}${smallName}`;
  };
  if (ms < 2 * minute) return `${Math.floor(ms / second)}s`;
  if (ms < 10 * minute) return parts(minute, 'm', second, 's');
  if (ms < 3 * hour) return `${Math.floor(ms / minute)}m`;
  if (ms < 8 * hour) return parts(hour, 'h', minute, 'm');
  if (ms < 2 * day) return `${Math.floor(ms / hour)}h`;
  if (ms < 8 * day) return parts(day, 'd', hour, 'h');
  if (ms < 2 * year) return `${Math.floor(ms / day)}d`;
  if (ms < 8 * year) return parts(year, 'y', day, 'd');
  return `${Math.floor(ms / year)}y`;
}
