import { expect, test } from 'vitest';

import { endSentence, formatAgo, formatDuration, formatSeconds, plural } from './words.ts';

test.each([
  { ms: -1, expected: '0.0 ms' },
  { ms: 4.25, expected: '4.3 ms' },
  { ms: 412.4, expected: '412 ms' },
  { ms: 42_000, expected: '42 s' },
  { ms: 185_000, expected: '3 min 5 s' },
  { ms: 7_200_000, expected: '2 h' },
  { ms: 90_000_000, expected: '1 d 1 h' },
])('$ms ms take $expected', ({ ms, expected }) => {
  expect(formatDuration(ms)).toBe(expected);
});

test('times until and since are whole seconds', () => {
  expect(formatSeconds(5.9)).toBe('5 s');
  expect(formatAgo(300)).toBe('just now');
  expect(formatAgo(61_000)).toBe('1 min 1 s ago');
});

test('counts and sentences', () => {
  expect(plural(1, 'pod')).toBe('1 pod');
  expect(plural(1200, 'pod')).toBe('1,200 pods');
  expect(endSentence('It waits')).toBe('It waits.');
  expect(endSentence('It waits!')).toBe('It waits!');
});
