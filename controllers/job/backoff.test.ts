import { describe, expect, test } from 'vitest';

import { frozen, job } from '../../test/support/builders.ts';
import { jobPod, jobPodTime, type DescribedJobPod } from '../../test/support/job-pods.ts';
import { continueStreak, recallStreak, remainingBackoffMs, remainingIndexBackoffMs } from './backoff.ts';

const owner = frozen(job());
const epochMs = Date.parse(jobPodTime);
const at = (second: number): number => epochMs + second * 1000;
const failed = (endedAt: number, more: DescribedJobPod = {}) => jobPod(owner, { phase: 'Failed', endedAt, ...more });
const succeeded = (endedAt: number) => jobPod(owner, { phase: 'Succeeded', endedAt });
const three = { failures: 3, lastFailureMs: at(5) };

describe('continueStreak', () => {
  const rows = [
    { name: 'does not change without ended pods', ok: [], bad: [], expected: three },
    { name: 'grows with each failure', ok: [], bad: [9, 7], expected: { failures: 5, lastFailureMs: at(9) } },
    { name: 'ends with a success', ok: [6], bad: [], expected: { failures: 0, lastFailureMs: 0 } },
    {
      name: 'starts again after a success',
      ok: [6, 8],
      bad: [7, 9, 10],
      expected: { failures: 2, lastFailureMs: at(10) },
    },
    {
      name: 'does not count a failure at the time of a success',
      ok: [8],
      bad: [8],
      expected: { failures: 0, lastFailureMs: 0 },
    },
  ];
  for (const { name, ok, bad, expected } of rows) {
    test(name, () => {
      expect(
        continueStreak(
          three,
          ok.map(succeeded),
          bad.map((second) => failed(second)),
        ),
      ).toEqual(expected);
    });
  }
});

describe('recallStreak', () => {
  test('counts the failures since the last success among counted pods', () => {
    const counted = { tracked: false };
    const pods = [failed(1, counted), succeeded(2), failed(3, counted), failed(4, counted), failed(5)];
    // The succeeded pod is still tracked: a later sync counts it.
    expect(recallStreak(owner, pods)).toEqual({ failures: 3, lastFailureMs: at(4) });
    const known = pods.map((pod) => ({ ...pod, metadata: { ...pod.metadata, finalizers: undefined } }));
    expect(recallStreak(owner, known)).toEqual({ failures: 3, lastFailureMs: at(5) });
  });

  test('includes failed pods in the lists of the status', () => {
    const noted = failed(7);
    const status = { uncountedTerminatedPods: { failed: [noted.metadata.uid] } };
    expect(recallStreak(frozen(job({ status })), [noted])).toEqual({ failures: 1, lastFailureMs: at(7) });
  });

  test('ignores terminating pods', () => {
    const own = failed(7, { tracked: false, deleting: true });
    expect(recallStreak(owner, [own]).failures).toBe(0);
  });
});

describe('remainingBackoffMs', () => {
  const rows = [
    { failures: 0, elapsed: 0, expected: 0 },
    { failures: 1, elapsed: 0, expected: 10 },
    { failures: 1, elapsed: 4, expected: 6 },
    { failures: 1, elapsed: 10, expected: 0 },
    { failures: 1, elapsed: 60, expected: 0 },
    { failures: 2, elapsed: 0, expected: 20 },
    { failures: 6, elapsed: 0, expected: 320 },
    { failures: 7, elapsed: 0, expected: 600 },
    { failures: 5000, elapsed: 0, expected: 600 },
  ];
  for (const { failures, elapsed, expected } of rows) {
    test(`is ${String(expected)} s after ${String(failures)} failures, the last ${String(elapsed)} s ago`, () => {
      expect(remainingBackoffMs({ failures, lastFailureMs: at(0) }, at(elapsed))).toBe(expected * 1000);
    });
  }
});

describe('remainingIndexBackoffMs', () => {
  const counts = (counted: string, ignored?: string): DescribedJobPod => ({
    annotations: {
      'batch.kubernetes.io/job-index-failure-count': counted,
      ...(ignored !== undefined && { 'batch.kubernetes.io/job-index-ignored-failure-count': ignored }),
    },
  });
  const rows = [
    { name: 'is 0 for a first pod', pod: undefined, expected: 0 },
    { name: 'is the base after the first failure', pod: failed(0, counts('0')), expected: 10 },
    { name: 'doubles with the failures before', pod: failed(0, counts('2')), expected: 40 },
    { name: 'counts ignored failures too', pod: failed(0, counts('1', '2')), expected: 80 },
    { name: 'treats an invalid count as 0', pod: failed(0, counts('-3', 'many')), expected: 10 },
    { name: 'treats a count beyond int32 as 0', pod: failed(0, counts('2147483648')), expected: 10 },
  ];
  for (const { name, pod, expected } of rows) {
    test(name, () => expect(remainingIndexBackoffMs(pod, at(0))).toBe(expected * 1000));
  }
});
