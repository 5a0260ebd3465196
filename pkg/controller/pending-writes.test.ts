import { describe, expect, test } from 'vitest';

import { compareResourceVersions, ConfigMaps, objectKey, type ConfigMap, type ObjectKey } from '../api/index.ts';
import { PendingWrites } from './pending-writes.ts';

const owner = objectKey('default', 'owner');
const child = objectKey('default', 'child');

function setUp(): {
  pending: PendingWrites<ConfigMap>;
  cache: { version: string; child: ConfigMap | undefined };
  advance(ms: number): void;
} {
  const cache: { version: string; child: ConfigMap | undefined } = { version: '10', child: object('uid-1') };
  let nowMs = 0;
  const store = {
    get: (key: ObjectKey) => (key === child ? cache.child : undefined),
    hasSeen: (version: string) => compareResourceVersions(version, cache.version) <= 0,
  };
  const pending = new PendingWrites<ConfigMap>({ kind: ConfigMaps, store }, { monotonic: () => nowMs });
  return { pending, cache, advance: (ms) => (nowMs += ms) };
}

function object(uid: string, deletionTimestamp?: string): ConfigMap {
  const metadata = {
    name: 'child',
    namespace: 'default',
    uid,
    resourceVersion: '5',
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  return { metadata: deletionTimestamp === undefined ? metadata : { ...metadata, deletionTimestamp } };
}

describe('PendingWrites', () => {
  test('an owner nothing was written for is settled', () => {
    expect(setUp().pending.isSettled(owner)).toBe(true);
  });

  test('a create is pending until the cache has observed its version', () => {
    const { pending, cache } = setUp();
    pending.wrote(owner, '12');
    pending.wrote(owner, '11');
    cache.version = '11';
    expect(pending.isSettled(owner)).toBe(false);
    cache.version = '12';
    expect(pending.isSettled(owner)).toBe(true);
  });

  const deletions = [
    { name: 'still there', child: object('uid-1'), settled: false },
    { name: 'terminating', child: object('uid-1', '2026-01-01T00:00:00Z'), settled: true },
    { name: 'gone', child: undefined, settled: true },
    { name: 'replaced under its name', child: object('uid-2'), settled: true },
  ];
  for (const { name, child: cached, settled } of deletions) {
    test(`a delete whose object is ${name} is ${settled ? 'settled' : 'pending'}`, () => {
      const { pending, cache } = setUp();
      pending.deleted(owner, child, 'uid-1');
      cache.child = cached;
      expect(pending.isSettled(owner)).toBe(settled);
    });
  }

  const disappearances = [
    { name: 'still there', child: object('uid-1'), settled: false },
    { name: 'terminating', child: object('uid-1', '2026-01-01T00:00:00Z'), settled: false },
    { name: 'gone', child: undefined, settled: true },
    { name: 'replaced under its name', child: object('uid-2'), settled: true },
  ];
  for (const { name, child: cached, settled } of disappearances) {
    test(`an object known to be gone that the cache shows as ${name} is ${settled ? 'settled' : 'pending'}`, () => {
      const { pending, cache } = setUp();
      pending.vanished(owner, child, 'uid-1');
      cache.child = cached;
      expect(pending.isSettled(owner)).toBe(settled);
    });
  }

  test('a version that never comes stops an owner for five minutes at most', () => {
    const { pending, advance } = setUp();
    pending.wrote(owner, '99');
    advance(5 * 60_000);
    expect(pending.isSettled(owner)).toBe(false);
    advance(1);
    expect(pending.isSettled(owner)).toBe(true);
  });
});
