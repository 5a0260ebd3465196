import type { IntOrString } from './objects.ts';

/** A number as it is, or a percentage of `total`, rounded `up` or `down`. Throws on any other text. */
export function scaledValue(value: IntOrString, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const match = /^(-?\d+)%$/.exec(value);
  if (match === null) throw new Error(`invalid value ${JSON.stringify(value)}: neither a number nor a percentage`);
  const scaled = (Number(match[1]) * total) / 100;
  return rounding === 'up' ? Math.ceil(scaled) : Math.floor(scaled);
}
