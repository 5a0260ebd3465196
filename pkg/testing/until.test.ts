import { expect, test } from 'vitest';

import { until } from './until.ts';

test('returns the first result that is not false', async ({ signal }) => {
  const results = [false, false, 0] as const;
  let calls = 0;
  expect(await until(async () => results[calls++] ?? false, signal)).toBe(0);
  expect(calls).toBe(3);
});

test('tries again after an error', async ({ signal }) => {
  let calls = 0;
  const attempt = async (): Promise<string> => {
    if (calls++ === 0) throw new Error('not yet');
    return 'done';
  };
  expect(await until(attempt, signal)).toBe('done');
});

test.each([
  { title: 'the last failure', failures: ['too few', 'too many'], expected: /ended: too many$/ },
  {
    title: 'the failure before an attempt that the abort has ended',
    failures: ['too few'],
    expected: /ended: too few$/,
  },
  { title: 'the abort, if it ended the only attempt', failures: [], expected: /ended: aborted$/ },
])('an abort ends it with $title', async ({ failures, expected }) => {
  const stop = new AbortController();
  const left = [...failures];
  const attempt = async (): Promise<never> => {
    const failure = left.shift();
    if (failure === undefined) stop.abort();
    throw new Error(failure ?? 'aborted');
  };
  await expect(until(attempt, stop.signal)).rejects.toThrow(expected);
});
