import { binary, formatDecimal, nanoValue } from './quantity.ts';

/** How a quantity is written: `1Ki`, `1k` or `1e3`. */
export type AmountFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

/** A quantity to calculate with. Exact: quantities have at most nine decimal places, as in Go. */
export interface Amount {
  /** The value in billionths. */
  readonly nanos: bigint;
  readonly format: AmountFormat;
}

const nanosPerUnit = 1_000_000_000n;
export const zeroAmount: Amount = { nanos: 0n, format: 'DecimalSI' };

/** A whole number of things. */
export function amountOf(count: number | bigint): Amount {
  return { nanos: BigInt(count) * nanosPerUnit, format: 'DecimalSI' };
}

/** Undefined if the text is not a quantity. Finer parts than a billionth are rounded up, away from zero. */
export function parseAmount(text: string): Amount | undefined {
  const nanos = nanoValue(text);
  return nanos === undefined ? undefined : { nanos, format: formatOf(text) };
}

function formatOf(text: string): AmountFormat {
  if (text.endsWith('i')) return 'BinarySI';
  return /[eE][+-]?\d+$/.test(text) ? 'DecimalExponent' : 'DecimalSI';
}

/** The sum, written like the first amount, or like the second if the first is zero. */
export function addAmounts(first: Amount, second: Amount): Amount {
  return { nanos: first.nanos + second.nanos, format: first.nanos === 0n ? second.format : first.format };
}

/** Rounds up to a whole number of units, away from zero. */
export function roundUpAmount({ nanos, format }: Amount): Amount {
  const remainder = nanos % nanosPerUnit;
  if (remainder === 0n) return { nanos, format };
  return { nanos: nanos - remainder + (nanos > 0n ? nanosPerUnit : -nanosPerUnit), format };
}

/** The canonical text. Fractions, and binary amounts below 1Ki, are written with decimal suffixes. */
export function formatAmount({ nanos, format }: Amount): string {
  if (nanos === 0n) return '0';
  const size = nanos < 0n ? -nanos : nanos;
  const isBinary = format === 'BinarySI' && size >= 1024n * nanosPerUnit && size % nanosPerUnit === 0n;
  const text = isBinary ? formatBinary(size / nanosPerUnit) : formatDecimal(size, -9, format === 'DecimalExponent');
  return nanos < 0n ? `-${text}` : text;
}

/** The canonical text of an amount in thousandths. */
export function formatMilli(thousandths: bigint, format: 'decimal' | 'binary' = 'decimal'): string {
  return formatAmount({ nanos: thousandths * 1_000_000n, format: format === 'binary' ? 'BinarySI' : 'DecimalSI' });
}

function formatBinary(units: bigint): string {
  let value = units;
  let index = 0;
  while (value % 1024n === 0n && index < binary.length - 1) {
    value /= 1024n;
    index++;
  }
  return `${value}${binary[index]}`;
}
