import { expect, test } from 'vitest';

import { keyOf } from '../../pkg/api/index.ts';
import { daemonSet } from '../../test/support/builders.ts';
import { FailedPodBackoff } from './failed-pod-backoff.ts';

const observed = (observedGeneration: number) => daemonSet({ status: { observedGeneration } as never });

test('the back-off of a node starts with a second, doubles up to fifteen minutes, and expires', () => {
  let nowMs = 0;
  const backoff = new FailedPodBackoff({ monotonic: () => nowMs });
  const owner = observed(1);
  expect(backoff.waitsOf(owner).size).toBe(0);
  const delaysMs = Array.from({ length: 12 }, () => {
    backoff.next(owner, 'a');
    const delayMs = backoff.waitsOf(owner).get('a') ?? 0;
    nowMs += delayMs;
    return delayMs;
  });
  expect(delaysMs.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
  expect(delaysMs.at(-1)).toBe(15 * 60_000);
  expect(backoff.waitsOf(owner).size).toBe(0);
  nowMs += 31 * 60_000;
  backoff.next(owner, 'a');
  expect(backoff.waitsOf(owner).get('a')).toBe(1000);
});

test('nodes and generations have a back-off each, and a forgotten DaemonSet has none', () => {
  const backoff = new FailedPodBackoff({ monotonic: () => 0 });
  backoff.next(observed(1), 'a');
  expect([...backoff.waitsOf(observed(1)).keys()]).toEqual(['a']);
  expect(backoff.waitsOf(observed(2)).size).toBe(0);
  backoff.next(observed(2), 'b');
  expect([...backoff.waitsOf(observed(2)).keys()]).toEqual(['b']);
  backoff.forget(keyOf(observed(2)));
  expect(backoff.waitsOf(observed(2)).size).toBe(0);
});
