import { expect, test } from 'vitest';

import { objectKey } from '../../pkg/api/index.ts';
import { BusyVolumes } from './busy.ts';

const key = objectKey(undefined, 'disk');

test('a volume that was asked for while it was busy is enqueued afterwards', async () => {
  const enqueued: string[] = [];
  const busy = new BusyVolumes((each) => enqueued.push(each));
  expect(busy.defer(key)).toBe(false);
  await busy.during(key, async () => {
    expect(busy.has(key)).toBe(true);
    expect(busy.defer(key)).toBe(true);
    expect(enqueued).toEqual([]);
  });
  expect(busy.has(key)).toBe(false);
  expect(enqueued).toEqual([key]);
});

test('a volume that nobody asked for is not enqueued, also after an error', async () => {
  const enqueued: string[] = [];
  const busy = new BusyVolumes((each) => enqueued.push(each));
  await expect(busy.during(key, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(busy.has(key)).toBe(false);
  expect(enqueued).toEqual([]);
});

test('a volume stays busy until the first work has ended', async () => {
  const busy = new BusyVolumes(() => {});
  await busy.during(key, async () => {
    await busy.during(key, async () => {});
    expect(busy.has(key)).toBe(true);
  });
});
