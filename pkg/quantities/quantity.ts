export const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimal = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

/** Quantities end here, as in Go: a larger value counts as this one. */
const largest = 2n ** 63n - 1n;
/** No power of ten that is further from 1 changes a value between the smallest and the largest quantity. */
const largestExponent = 1000;

/** `digits` × 10^`exponent` × 1024^`power`. */
interface ParsedQuantity {
  readonly isNegative: boolean;
  readonly digits: bigint;
  readonly exponent: number;
  readonly power: number;
  readonly suffix: string;
}

function parseQuantity(text: string): ParsedQuantity | undefined {
  const match = /^([+-]?)(\d*)\.?(\d*)([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE]?)$/.exec(text);
  const [, sign, whole = '', fraction = '', suffix = ''] = match ?? [];
  if (match === null || whole + fraction === '') return undefined;
  const isBinary = suffix.endsWith('i');
  return {
    isNegative: sign === '-',
    digits: BigInt(whole + fraction),
    exponent: (isBinary ? 0 : exponentOf(suffix)) - fraction.length,
    power: isBinary ? binary.indexOf(suffix) : 0,
    suffix,
  };
}

function exponentOf(suffix: string): number {
  if (!/^[eE][+-]?\d/.test(suffix)) return (decimal.indexOf(suffix) - 3) * 3;
  return Math.max(-largestExponent, Math.min(Number(suffix.slice(1)), largestExponent));
}

/** A quantity as a whole number of units. Fractions are rounded up, away from zero. Undefined if it is not a quantity. */
export function quantityValue(text: string): number | undefined {
  return scaledValue(text, 0);
}

/** A quantity as a whole number of thousandths, such as thousandths of a CPU. Rounded like `quantityValue`. */
export function milliValue(text: string): number | undefined {
  return scaledValue(text, 3);
}

/** A quantity in billionths, exact: quantities have at most nine decimal places. Undefined if it is not a quantity. */
export function nanoValue(text: string): bigint | undefined {
  return scaledExactly(text, 9, largest * 10n ** 9n);
}

function scaledValue(text: string, scale: number): number | undefined {
  const value = scaledExactly(text, scale, largest);
  return value === undefined ? undefined : Number(value);
}

function scaledExactly(text: string, scale: number, most: bigint): bigint | undefined {
  const quantity = parseQuantity(text);
  if (quantity === undefined) return undefined;
  const exponent = quantity.exponent + scale;
  const whole = quantity.digits * 1024n ** BigInt(quantity.power) * 10n ** BigInt(Math.max(exponent, 0));
  const unit = 10n ** BigInt(Math.max(-exponent, 0));
  const rounded = (whole + unit - 1n) / unit;
  const value = rounded > most ? most : rounded;
  return quantity.isNegative ? -value : value;
}

/**
 * A quantity in its canonical form: `0.5` is `500m`, `1024Mi` is `1Gi`. Undefined if the value is not a quantity. Exact,
 * because quantities can be larger and finer than a `number`.
 */
export function canonicalQuantity(value: string | number): string | undefined {
  const quantity = parseQuantity(String(value));
  if (quantity === undefined) return undefined;
  const { isNegative, digits, exponent, power, suffix } = quantity;
  if (digits === 0n) return '0';
  const text = suffix.endsWith('i')
    ? formatBinary(digits, -exponent, power)
    : formatDecimal(digits, exponent, /^[eE]/.test(suffix));
  return isNegative ? `-${text}` : text;
}

/** Formats with a binary suffix. A value that is not a whole number needs a decimal suffix. */
function formatBinary(digits: bigint, fractionDigits: number, power: number): string {
  const scaled = digits * 1024n ** BigInt(power);
  const unit = 10n ** BigInt(fractionDigits);
  if (scaled % unit !== 0n) return formatDecimal(scaled, -fractionDigits, false);
  let value = scaled / unit;
  let index = 0;
  while (value % 1024n === 0n && index < binary.length - 1) {
    value /= 1024n;
    index++;
  }
  return `${value}${binary[index]}`;
}

/** Formats with the largest suffix that leaves a whole number. Rounds up to a multiple of 1n. */
export function formatDecimal(digits: bigint, exponent: number, scientific: boolean): string {
  let value = digits;
  let power = exponent;
  while (power < -9) {
    value = (value + 9n) / 10n;
    power++;
  }
  while (value % 10n === 0n && power < 18) {
    value /= 10n;
    power++;
  }
  while (power % 3 !== 0 || power > 18) {
    value *= 10n;
    power--;
  }
  if (scientific) return power === 0 ? String(value) : `${value}e${power}`;
  return `${value}${decimal[power / 3 + 3]}`;
}

/** The steps between powers of ten for which Go multiplies at once, and an overflow wraps around. */
const directSteps: ReadonlySet<number> = new Set([0, 1, 2, 3, 6, 9]);
/** Go keeps a decimal quantity with at most this many digits as an int64 and a power of ten. */
const int64Digits = 18;

/**
 * A quantity in thousandths, rounded away from zero, as an int64 of Go (`MilliValue`). Beyond int64, the result is as
 * wrong as in Go: it wraps around, or is 0 for a suffix or exponent whose power of ten is multiplied step by step.
 * Undefined if the text is not a quantity.
 */
export function milliInt64(text: string): bigint | undefined {
  const quantity = parseQuantity(text);
  if (quantity === undefined) return undefined;
  const { isNegative, digits, power, suffix } = quantity;
  const exponent = quantity.exponent + 3;
  const whole = digits * 1024n ** BigInt(power) * 10n ** BigInt(Math.max(exponent, 0));
  const unit = 10n ** BigInt(Math.max(-exponent, 0));
  const rounded = (whole + unit - 1n) / unit;
  const isStepwise = !suffix.endsWith('i') && String(digits).length <= int64Digits && !directSteps.has(exponent);
  if (isStepwise && rounded > largest) return 0n;
  return BigInt.asIntN(64, isNegative ? -rounded : rounded);
}

/** The nearest `number`, by the same two steps as in Go: the digits, times a power of ten. */
export function approximateValue(text: string): number | undefined {
  const quantity = parseQuantity(text);
  if (quantity === undefined) return undefined;
  const { isNegative, digits, exponent, power } = quantity;
  const base = Number(digits * 1024n ** BigInt(power));
  const value = exponent === 0 ? base : base * Number(`1e${exponent}`);
  return isNegative ? -value : value;
}
