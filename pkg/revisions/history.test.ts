import { describe, expect, test } from 'vitest';

import { ExactInteger, type ControllerRevision } from '../api/index.ts';
import { controllerRevision } from '../../test/support/builders.ts';
import { nextRevisionNumber, selectSurplusRevisions, sortRevisions } from './history.ts';

const exact = (text: string): number => ExactInteger.of(text) as unknown as number;
const numbered = (name: string, revision: number, creationTimestamp = '2026-01-01T00:00:00Z'): ControllerRevision =>
  controllerRevision({ name, metadata: { creationTimestamp } }, { revision });
const names = (revisions: readonly { metadata: { name: string } }[]): string[] =>
  revisions.map(({ metadata }) => metadata.name);

describe('sortRevisions', () => {
  test('sorts by number, then by creation, then by name', () => {
    const revisions = [
      numbered('d', exact('9223372036854775807')),
      numbered('c', exact('9223372036854775806')),
      numbered('b', 2),
      numbered('a', 2),
      numbered('z', 2, '2025-01-01T00:00:00Z'),
      numbered('y', 10),
      numbered('x', 1),
    ];
    expect(names(sortRevisions(revisions))).toEqual(['x', 'z', 'a', 'b', 'y', 'c', 'd']);
  });
});

describe('nextRevisionNumber', () => {
  const rows: { name: string; numbers: number[]; expected: bigint }[] = [
    { name: 'is 1 at first', numbers: [], expected: 1n },
    { name: 'is one more than the highest', numbers: [3, 7, 2], expected: 8n },
    { name: 'is 1 after negative numbers', numbers: [-5], expected: 1n },
    { name: 'is exact beyond 2^53', numbers: [exact('9007199254740993')], expected: 9007199254740994n },
  ];
  for (const { name, numbers, expected } of rows) {
    test(name, () => expect(nextRevisionNumber(numbers.map((number) => numbered('a', number)))).toBe(expected));
  }
});

describe('selectSurplusRevisions', () => {
  const old = [numbered('c', 3), numbered('a', 1), numbered('d', 4), numbered('b', 2)];
  const rows: { name: string; limit: number; inUse: string[]; expected: string[] }[] = [
    { name: 'selects none within the limit', limit: 4, inUse: [], expected: [] },
    { name: 'selects the oldest', limit: 2, inUse: [], expected: ['a', 'b'] },
    { name: 'skips revisions in use', limit: 2, inUse: ['a'], expected: ['b', 'c'] },
    { name: 'keeps more than the limit if they are in use', limit: 0, inUse: ['a', 'b', 'c'], expected: ['d'] },
  ];
  for (const { name, limit, inUse, expected } of rows) {
    test(name, () => {
      expect(names(selectSurplusRevisions(old, limit, ({ metadata }) => inUse.includes(metadata.name)))).toEqual(
        expected,
      );
    });
  }
});
