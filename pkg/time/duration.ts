const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3, // U+00B5, micro sign
  μs: 1e-3, // U+03BC, Greek letter mu
  ns: 1e-6,
};

/** Parses a duration of Go (`300ms`, `1m30s`, `-1.5h`, `0`) to milliseconds. Throws on any other text. */
export function parseDuration(text: string): number {
  const [, sign = '', rest = ''] = /^([-+]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0;
  const part = /(\d+\.?\d*|\.\d+)(h|ms|m|s|us|\u00b5s|\u03bcs|ns)/y;
  let total = 0;
  while (part.lastIndex < rest.length) {
    const match = part.exec(rest);
    if (match === null) throw invalidDuration(text);
    total += Number(match[1]) * (unitMs[match[2] ?? ''] ?? Number.NaN);
  }
  if (rest === '') throw invalidDuration(text);
  // Go's unit is the nanosecond: rounding to it hides errors of floating point.
  const rounded = Math.round(total * 1e6) / 1e6;
  return sign === '-' ? 0 - rounded : rounded;
}

/** A text is not a duration. */
export class DurationError extends Error {
  override readonly name = 'DurationError';
  readonly reason = 'InvalidDuration';
}

function invalidDuration(text: string): DurationError {
  return new DurationError(`invalid duration ${JSON.stringify(text)}: expected a form like 300ms, 1.5h or 1m30s`);
}

/** Formats milliseconds as Go prints a duration: `1h0m0s`, `1m30s`, `1.5s`, `300ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms < 1e-3) return `${Math.round(ms * 1e6)}ns`;
  if (ms < 1) return `${trimmed(ms * 1e3, 3)}µs`;
  if (ms < 1000) return `${trimmed(ms, 6)}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = `${trimmed((ms % 60_000) / 1000, 9)}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}
