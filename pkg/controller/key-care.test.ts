import { describe, expect, test } from 'vitest';

import { ConfigMaps, objectKey, Pods, type Kind, type ObjectKey } from '../api/index.ts';
import { withKeyCare, type KeyCare, type OwnWrites } from './key-care.ts';

const key = objectKey('default', 'one');
const { signal } = new AbortController();

function setUp(care: KeyCare): { run(): Promise<number | undefined>; runs(): number; advance(ms: number): void } {
  let nowMs = 0;
  let runs = 0;
  const reconcile = withKeyCare(
    async () => {
      runs += 1;
      return {};
    },
    care,
    { monotonic: () => nowMs },
  );
  return {
    run: async () => (await reconcile(key, signal)).requeueAfterMs,
    runs: () => runs,
    advance: (ms) => (nowMs += ms),
  };
}

function ownWrites(kind: Kind, settled: boolean): OwnWrites & { settled: boolean; forgotten: ObjectKey[] } {
  const forgotten: ObjectKey[] = [];
  return {
    kind,
    settled,
    forgotten,
    isSettled() {
      return this.settled;
    },
    forget: (gone) => void forgotten.push(gone),
  };
}

describe('withKeyCare', () => {
  test('reconciles at once when nothing is asked for', async () => {
    const { run, runs } = setUp({});
    expect([await run(), runs()]).toEqual([undefined, 1]);
  });

  test('waits until own writes are observed, and names the kind that is stale', async () => {
    const stale: string[] = [];
    const pods = ownWrites(Pods, false);
    const { run, runs } = setUp({
      ownWrites: [ownWrites(ConfigMaps, true), pods],
      recheckMs: 250,
      onStale: (kind) => stale.push(kind.kind),
    });
    expect([await run(), runs(), stale]).toEqual([250, 0, ['Pod']]);
    pods.settled = true;
    expect([await run(), runs(), stale]).toEqual([undefined, 1, ['Pod']]);
  });

  test('keeps the minimum interval between two reconciles of a key', async () => {
    const { run, runs, advance } = setUp({ minIntervalMs: () => 100, primary: { get: () => ({}) } });
    expect(await run()).toBeUndefined();
    advance(40);
    expect([await run(), runs()]).toEqual([60, 1]);
    advance(60);
    expect([await run(), runs()]).toEqual([undefined, 2]);
  });

  test('drops the state of a key when its object is deleted', async () => {
    let object: object | undefined = {};
    const forgotten: ObjectKey[] = [];
    const pods = ownWrites(Pods, true);
    const { run } = setUp({
      ownWrites: [pods],
      primary: { get: () => object },
      forget: (gone) => forgotten.push(gone),
    });
    await run();
    expect([forgotten, pods.forgotten]).toEqual([[], []]);
    object = undefined;
    await run();
    expect([forgotten, pods.forgotten]).toEqual([[key], [key]]);
  });
});
