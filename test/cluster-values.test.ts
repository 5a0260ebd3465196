import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findUnsafeReads } from './cluster-values.ts';

const root = join(import.meta.dirname, '..');

test('every value from the cluster is read in a way that rare input cannot break', async () => {
  const sources = new Map<string, string>();
  for await (const path of glob('{pkg,controllers,informers,workqueue}/**/*.ts', { cwd: root })) {
    sources.set(path, readFileSync(join(root, path), 'utf8'));
  }
  expect(sources.size).toBeGreaterThan(50);
  expect(findUnsafeReads(sources)).toEqual([]);
});

describe('findUnsafeReads', () => {
  const rows = [
    { text: "metadata.labels?.['kubernetes.io/os']", complaint: undefined },
    { text: 'metadata.labels?.[lastUsedLabel]', complaint: undefined },
    { text: 'invalid(`data[${key}]`)', complaint: undefined },
    { text: 'metadata.labels?.[name] === value', complaint: 'ownValue' },
    { text: 'labels[key] !== undefined', complaint: 'ownValue' },
    { text: 'if (!(name in a)) return;', complaint: 'hasOwn' },
    { text: 'for (const name in a) count();', complaint: undefined },
    { text: 'if (status.startTime !== undefined) return;', complaint: 'parseTime' },
    { text: 'if (metadata.deletionTimestamp === undefined) return;', complaint: 'isBeingDeleted' },
    { text: "Date.parse(time ?? '')", complaint: 'parseTime' },
  ];
  for (const { text, complaint } of rows) {
    test(`${complaint === undefined ? 'allows' : 'forbids'} ${text}`, () => {
      const found = findUnsafeReads(new Map([['controllers/a/a.ts', text]]));
      expect(found.map((line) => line.includes(complaint ?? ''))).toEqual(complaint === undefined ? [] : [true]);
    });
  }
});
