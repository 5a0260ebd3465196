/** Upper bounds that start at `start` and grow by `factor`; computed step by step, as Go does, to the same last bit. */
export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}

export function linearBuckets(start: number, width: number, count: number): readonly number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound += width) bounds.push(bound);
  return bounds;
}

/** For durations in seconds where nothing better is known. */
export const defaultBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * A bucket's bound as Go writes it (`1e-05`, `1.048576e+06`): it becomes the value of the label `le`, and series under
 * another spelling would be other series to a dashboard that has seen those of the Go binary.
 */
export function formatBound(bound: number): string {
  if (bound === Infinity) return '+Inf';
  if (bound === 0) return '0';
  const [digits = '', exponent = '0'] = bound.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(bound);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
