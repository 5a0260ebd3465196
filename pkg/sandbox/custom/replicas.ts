import type { FieldError } from '../failure.ts';
import type { Fields } from '../schema/index.ts';
import { readPath } from '../table/index.ts';

/** The number of replicas of a custom resource, which may be at any path and of any type. */
export function validateReplicas(object: Fields, path: string): FieldError[] {
  const value = readPath(object, path);
  if (value === undefined) return [];
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    const found = typeof value === 'number' ? 'float64' : typeof value;
    const detail = `${path} accessor error: ${typeof value === 'string' ? value : JSON.stringify(value)} is of the type ${found}, expected int64`;
    return [{ type: 'Invalid', field: path, value: 0, detail }];
  }
  return value >= 0 ? [] : [{ type: 'Invalid', field: path, value, detail: 'should be a non-negative integer' }];
}
