import { describe, expect, test } from 'vitest';

import { EndpointSlices, objectKey, type EndpointSlice } from '../api/index.ts';
import { endpointSlice } from '../../test/support/builders.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { SliceTracker } from './slice-tracker.ts';

const service = objectKey('default', 'web');
const slice = (generation: number, version = generation): EndpointSlice =>
  endpointSlice({ name: 'web-1', metadata: { generation, resourceVersion: String(version) } });

function tracked() {
  const slices = new FakeInformer(EndpointSlices);
  return { slices, tracker: new SliceTracker(slices, new FakeClock()) };
}

describe('SliceTracker', () => {
  test('is not settled until the cache has observed a write', () => {
    const { slices, tracker } = tracked();
    tracker.wrote(service, slice(1, 7).metadata);
    expect(tracker.isSettled(service)).toBe(false);
    slices.set(slice(1, 7));
    expect(tracker.isSettled(service)).toBe(true);
  });

  test('is not settled until the cache has lost what was deleted', () => {
    const { slices, tracker } = tracked();
    slices.set(slice(1));
    tracker.deleted(service, slice(1));
    expect(tracker.isSettled(service)).toBe(false);
    slices.delete(slice(1));
    expect(tracker.isSettled(service)).toBe(true);
  });

  test('a slice that was deleted before it was observed does not block a Service', () => {
    const { slices, tracker } = tracked();
    tracker.wrote(service, slice(1, 7).metadata);
    slices.set(endpointSlice({ name: 'another', metadata: { resourceVersion: '8' } }));
    expect(tracker.isSettled(service)).toBe(true);
  });

  test('echoes of own writes are no news, what others write is', () => {
    const { tracker } = tracked();
    expect(tracker.isForeignChange(service, slice(1))).toBe(true);
    tracker.wrote(service, slice(2).metadata);
    expect(tracker.isForeignChange(service, slice(1))).toBe(false);
    expect(tracker.isForeignChange(service, slice(2))).toBe(false);
    expect(tracker.isForeignChange(service, slice(3))).toBe(true);
  });

  test('own deletions are no news, those of others are', () => {
    const { tracker } = tracked();
    tracker.deleted(service, slice(1));
    expect(tracker.isForeignChange(service, slice(1), true)).toBe(false);
    tracker.wrote(service, slice(1).metadata);
    expect(tracker.isForeignChange(service, slice(1), true)).toBe(true);
  });

  test('an event that comes before the answer to its write is judged when that has come', () => {
    const { tracker } = tracked();
    tracker.begin(service);
    expect(tracker.isForeignChange(service, slice(1))).toBe(false);
    tracker.wrote(service, slice(1).metadata);
    expect(tracker.end(service)).toBe(false);
    tracker.begin(service);
    expect(tracker.isForeignChange(service, slice(2))).toBe(false);
    expect(tracker.end(service)).toBe(true);
  });

  test('keeps no state for a forgotten Service', () => {
    const { tracker } = tracked();
    tracker.wrote(service, slice(1, 9).metadata);
    tracker.forget(service);
    expect([tracker.isSettled(service), tracker.isForeignChange(service, slice(1))]).toEqual([true, true]);
  });
});
