import { beforeEach, expect, test } from 'vitest';

import { keyOf, PersistentVolumes, type PersistentVolume } from '../../pkg/api/index.ts';
import { persistentVolume } from '../../test/support/builders.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { Latest } from './latest.ts';

const at = (resourceVersion: string): PersistentVolume =>
  persistentVolume({ name: 'disk', metadata: { resourceVersion } });
const key = keyOf(at('1'));
const versionOf = (latest: Latest<PersistentVolume>): string | undefined => latest.get(key)?.metadata.resourceVersion;

let clock: FakeClock;
let cache: FakeInformer<PersistentVolume>;
let latest: Latest<PersistentVolume>;
beforeEach(() => {
  clock = new FakeClock();
  cache = new FakeInformer(PersistentVolumes, [at('5')]);
  latest = new Latest<PersistentVolume>(cache.store, clock);
});

test('an own write counts until the cache has observed it', () => {
  expect(versionOf(latest)).toBe('5');
  latest.wrote(at('7'));
  expect(versionOf(latest)).toBe('7');
  cache.set(at('6'));
  expect(versionOf(latest)).toBe('7');
  cache.set(at('8'));
  expect(versionOf(latest)).toBe('8');
});

test('an object that is gone after an own write is gone', () => {
  latest.wrote(at('7'));
  cache.set(at('7'));
  cache.delete(at('7'));
  expect(latest.get(key)).toBeUndefined();
});

test('a write that the cache never observes is forgotten', async () => {
  latest.wrote(at('7'));
  await clock.advance(6 * 60_000);
  expect(versionOf(latest)).toBe('5');
});
