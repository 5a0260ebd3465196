/** Upper bounds that start at `start` and grow by `factor`. Multiplied step by step like Go, so that every bit is equal. */
export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}

/** The default buckets for durations in seconds. */
export const defaultBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Formats the bound of a bucket like Go (`1e-05`, `1.048576e+06`). It is the value of the label `le`: with another
 * spelling, dashboards made for the Go binary would not find the series.
 */
export function formatBound(bound: number): string {
  if (bound === Infinity) return '+Inf';
  if (bound === 0) return '0';
  const [digits = '', exponent = '0'] = bound.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(bound);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
