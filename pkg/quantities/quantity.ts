const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimal = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

/**
 * A quantity in its canonical form: `0.5` is `500m`, `1024Mi` is `1Gi`. Undefined if the value is not a quantity. Exact,
 * because quantities can be larger and finer than a `number`.
 */
export function canonicalQuantity(value: string | number): string | undefined {
  const match = /^([+-]?)(\d*)\.?(\d*)([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE]?)$/.exec(String(value));
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match ?? [];
  if (match === null || whole + fraction === '') return undefined;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return '0';
  const minus = sign === '-' ? '-' : '';
  const isBinary = suffix.endsWith('i');
  const exponent = isBinary ? undefined : exponentOf(suffix);
  const text = isBinary
    ? formatBinary(digits, fraction.length, binary.indexOf(suffix))
    : formatDecimal(digits, (exponent ?? 0) - fraction.length, /^[eE]/.test(suffix));
  return minus + text;
}

function exponentOf(suffix: string): number {
  return /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : (decimal.indexOf(suffix) - 3) * 3;
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
function formatDecimal(digits: bigint, exponent: number, scientific: boolean): string {
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
