import type { FieldError } from '../failure.ts';
import { invalidValue, notNegative } from './rules.ts';

/** A number of pods, or a percentage of them. */
type Amount = number | string;

const percentDetail =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

export function validateAmount(field: string, amount: Amount | undefined): FieldError[] {
  if (typeof amount !== 'string') return notNegative(field, amount);
  return percentOf(amount) === undefined ? [invalidValue(field, amount, percentDetail)] : [];
}

export function validateNotMoreThanAll(field: string, amount: Amount | undefined): FieldError[] {
  const isMore = (percentOf(amount) ?? 0) > 100;
  return isMore ? [invalidValue(field, amount, 'must not be greater than 100%')] : [];
}

/** Text that is not a percentage counts as zero, as in Go. */
export function isZeroAmount(amount: Amount | undefined): boolean {
  return typeof amount === 'number' ? amount === 0 : (percentOf(amount) ?? 0) === 0;
}

function percentOf(amount: Amount | undefined): number | undefined {
  return typeof amount === 'string' && /^[0-9]+%$/.test(amount) ? Number.parseInt(amount, 10) : undefined;
}
