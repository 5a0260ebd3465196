import type { IntOrString } from './objects.ts';

/** A text is neither a number nor a percentage. */
export class IntOrStringError extends Error {
  override readonly name = 'IntOrStringError';
  readonly reason = 'InvalidIntOrString';
}

/** A number as it is, or a percentage of `total`, rounded `up` or `down`. Throws an `IntOrStringError` on any other text. */
export function scaledValue(value: IntOrString, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const match = /^(-?\d+)%$/.exec(value);
  if (match === null) {
    throw new IntOrStringError(`invalid value ${JSON.stringify(value)}: neither a number nor a percentage`);
  }
  const scaled = (Number(match[1]) * total) / 100;
  return rounding === 'up' ? Math.ceil(scaled) : Math.floor(scaled);
}
