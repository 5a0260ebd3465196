import type { FieldError } from '../failure.ts';
import { invalidValue } from './rules.ts';

export function validatePort(port: number, field: string): FieldError[] {
  return port >= 1 && port <= 65535 ? [] : [invalidValue(field, port, 'must be between 1 and 65535, inclusive')];
}
