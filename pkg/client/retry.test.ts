import { describe, expect, test } from 'vitest';

import { ApiError, ConnectionError } from './errors.ts';
import { retryDelay, type Repetition } from './retry.ts';

const fresh = { refusals: 0, connectionErrors: 0 };
const refused = (code: number, retryAfter?: number, cause?: string): ApiError =>
  new ApiError(
    'x',
    { code, details: { causes: cause === undefined ? [] : [{ reason: cause }] } },
    { retryAfterSeconds: retryAfter },
  );
const lost = (mayHaveBeenSent: boolean): ConnectionError => new ConnectionError('x', { mayHaveBeenSent });

describe('retryDelay', () => {
  const rows: readonly { name: string; error: Error; repetition: Repetition; expected: number | undefined }[] = [
    { name: '429 is retried, also for a create', error: refused(429, 2), repetition: 'once', expected: 2000 },
    { name: '503 is retried, also for a create', error: refused(503, 1), repetition: 'once', expected: 1000 },
    { name: '429 without a time is final', error: refused(429), repetition: 'safe', expected: undefined },
    {
      name: 'a wait of over a minute is left to the caller',
      error: refused(429, 61),
      repetition: 'safe',
      expected: undefined,
    },
    {
      name: 'a forbidden eviction is final',
      error: refused(429, 10, 'DisruptionBudget'),
      repetition: 'once',
      expected: undefined,
    },
    {
      name: '500 with a time is final, also for a read',
      error: refused(500, 1),
      repetition: 'safe',
      expected: undefined,
    },
    {
      name: '504 with a time is final, also for a read',
      error: refused(504, 1),
      repetition: 'safe',
      expected: undefined,
    },
    { name: '404 is final', error: refused(404, 1), repetition: 'safe', expected: undefined },
    { name: 'a lost connection is retried by a read', error: lost(true), repetition: 'safe', expected: 100 },
    {
      name: 'a lost connection is retried by a write that can be repeated',
      error: lost(true),
      repetition: 'repeatable',
      expected: 100,
    },
    { name: 'a lost connection ends a create', error: lost(true), repetition: 'once', expected: undefined },
    { name: 'a refused connection is retried by a create', error: lost(false), repetition: 'once', expected: 100 },
    { name: 'any other error is final', error: new Error('x'), repetition: 'safe', expected: undefined },
  ];
  for (const { name, error, repetition, expected } of rows) {
    test(name, () => expect(retryDelay(error, repetition, fresh, 0)).toBe(expected));
  }
  test('stops after ten error responses', () => {
    expect(retryDelay(refused(429, 1), 'safe', { refusals: 9, connectionErrors: 0 }, 0)).toBe(1000);
    expect(retryDelay(refused(429, 1), 'safe', { refusals: 10, connectionErrors: 0 }, 0)).toBeUndefined();
  });
  test('stops after three lost connections, with a longer delay each time', () => {
    const delays = [0, 1, 2, 3].map((connectionErrors) =>
      retryDelay(lost(true), 'safe', { refusals: 0, connectionErrors }, 0),
    );
    expect(delays).toEqual([100, 200, 400, undefined]);
  });
});
