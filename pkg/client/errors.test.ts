import { describe, expect, test } from 'vitest';

import * as errors from './errors.ts';

const { ApiError } = errors;

const statuses: readonly { reason: string; code: number; is: readonly (keyof typeof errors)[]; cause?: string }[] = [
  { reason: 'NotFound', code: 404, is: ['isNotFound'] },
  { reason: 'AlreadyExists', code: 409, is: ['isAlreadyExists'] },
  { reason: 'Conflict', code: 409, is: ['isConflict'] },
  { reason: 'Expired', code: 410, is: ['isExpired'] },
  { reason: 'Gone', code: 410, is: ['isExpired'] },
  { reason: 'Forbidden', code: 403, is: ['isForbidden'] },
  { reason: 'Forbidden', code: 403, cause: 'NamespaceTerminating', is: ['isForbidden', 'isNamespaceTerminating'] },
  { reason: 'Unauthorized', code: 401, is: ['isUnauthorized'] },
  { reason: 'Invalid', code: 422, is: ['isInvalid'] },
  { reason: 'BadRequest', code: 400, is: ['isBadRequest'] },
  { reason: 'MethodNotAllowed', code: 405, is: ['isMethodNotSupported'] },
  { reason: 'NotAcceptable', code: 406, is: ['isNotAcceptable'] },
  { reason: 'TooManyRequests', code: 429, is: ['isTooManyRequests'] },
  { reason: 'Timeout', code: 504, is: ['isTimeout'] },
  { reason: 'Timeout', code: 504, cause: 'ResourceVersionTooLarge', is: ['isTimeout', 'isTooLargeResourceVersion'] },
  { reason: 'ServerTimeout', code: 500, is: ['isServerTimeout'] },
  { reason: 'ServiceUnavailable', code: 503, is: ['isServiceUnavailable'] },
  { reason: 'InternalError', code: 500, is: ['isInternal'] },
];

const predicates = Object.entries(errors).filter((entry): entry is [keyof typeof errors, (error: unknown) => boolean] =>
  entry[0].startsWith('is'),
);

describe('predicates', () => {
  for (const { reason, code, cause, is } of statuses) {
    test(`${reason}${cause === undefined ? '' : ` because of ${cause}`} is ${is.join(', ')} and nothing else`, () => {
      const details = { causes: cause === undefined ? [] : [{ reason: cause }] };
      const error = new ApiError('get pods a/b', { code, reason, details });
      expect(
        predicates
          .filter(([, holds]) => holds(error))
          .map(([name]) => name)
          .sort(),
      ).toEqual([...is].sort());
    });
  }
  test('look through the causes of an error', () => {
    const refusal = new ApiError('get pods a/b', { code: 409, reason: 'Conflict', message: 'changed' });
    const wrapped = new errors.AttemptError('delete pod a/b', new Error('apply', { cause: refusal }));
    expect(predicates.filter(([, holds]) => holds(wrapped)).map(([name]) => name)).toEqual(['isConflict']);
    expect(errors.apiErrorOf(wrapped)).toBe(refusal);
    expect(errors.serverMessage(wrapped)).toBe('changed');
    const lost = new errors.ConnectionError('lost', { mayHaveBeenSent: true });
    expect(errors.connectionErrorOf(new Error('watch', { cause: lost }))).toBe(lost);
  });
  test('come to an end where an error is among its own causes', () => {
    const error = new Error('a');
    error.cause = new Error('b', { cause: error });
    expect(predicates.filter(([, holds]) => holds(error))).toEqual([]);
  });
  test('are false for any other value', () => {
    for (const value of [undefined, null, 'NotFound', { reason: 'NotFound' }, new Error('NotFound')]) {
      expect(predicates.filter(([, holds]) => holds(value))).toEqual([]);
    }
  });
});

describe('ApiError', () => {
  test('has the verb, the object and the message of the server', () => {
    const error = new ApiError('get pods a/b', { code: 404, reason: 'NotFound', message: 'pods "b" not found' });
    expect(error.message).toBe('get pods a/b: pods "b" not found');
    expect(error.serverMessage).toBe('pods "b" not found');
  });
  test('has a reason from the HTTP status for the response of a proxy', () => {
    expect(new ApiError('get pods', { code: 503, message: 'x' }).reason).toBe('ServiceUnavailable');
  });
  test('prefers the seconds in the status to those in the header', () => {
    expect(
      new ApiError('x', { code: 429, details: { retryAfterSeconds: 3 } }, { retryAfterSeconds: 9 }).retryAfterSeconds,
    ).toBe(3);
    expect(new ApiError('x', { code: 429 }, { retryAfterSeconds: 9 }).retryAfterSeconds).toBe(9);
  });
});
