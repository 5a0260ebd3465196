import { describe, expect, test } from 'vitest';

import { objectKey } from '../../pkg/api/index.ts';
import { deployment, frozen, replicaSet } from '../../test/support/builders.ts';
import type { Action, Plan } from './plan.ts';
import { StatusPace } from './status-pace.ts';

const key = objectKey('default', 'web');
const rolling = frozen(deployment({ name: 'web', metadata: { generation: 2 }, status: { observedGeneration: 2 } }));
const changed = frozen(deployment({ name: 'web', metadata: { generation: 3 }, status: { observedGeneration: 2 } }));
const write: Action = { kind: 'updateStatus', deployment: rolling };
const event = { type: 'Normal', reason: 'ScalingReplicaSet', message: 'Scaled up' } as const;
const resize: Action = { kind: 'patchReplicaSet', key, patch: {}, event };
const annotate: Action = { kind: 'patchReplicaSet', key, patch: {} };
const planOf = (...actions: Action[]): Plan => ({ actions, result: {} });

function setUp() {
  let nowMs = 0;
  const pace = new StatusPace({ monotonic: () => nowMs });
  return { pace, advance: (ms: number) => (nowMs += ms) };
}

describe('StatusPace', () => {
  test('a status that changes alone is written at once', () => {
    const { pace } = setUp();
    for (const plan of [planOf(write), planOf(annotate, write)]) {
      expect(pace.apply(key, plan, rolling)).toBe(plan);
      pace.forget(key);
    }
  });

  test('the status of a sync that resizes a ReplicaSet is written by a later sync', () => {
    const { pace, advance } = setUp();
    expect(pace.apply(key, planOf(resize, write), rolling)).toEqual({
      actions: [resize],
      result: { requeueAfterMs: 100 },
    });
    advance(60);
    expect(pace.apply(key, planOf(write), rolling)).toEqual({ actions: [], result: { requeueAfterMs: 40 } });
    advance(40);
    expect(pace.apply(key, planOf(write), rolling)).toEqual(planOf(write));
  });

  test('a Deployment that resizes in every sync has its status written all the same', () => {
    const { pace, advance } = setUp();
    pace.apply(key, planOf(resize, write), rolling);
    advance(100);
    expect(pace.apply(key, planOf(resize, write), rolling)).toEqual(planOf(resize, write));
  });

  test('a new generation is observed at once', () => {
    const { pace } = setUp();
    pace.apply(key, planOf(resize, write), rolling);
    expect(pace.apply(key, planOf(resize, write), changed)).toEqual(planOf(resize, write));
  });

  test('the status of a new ReplicaSet is written at once: a later status would not say that it was created', () => {
    const { pace } = setUp();
    pace.apply(key, planOf(write), rolling);
    const plan = planOf({ kind: 'createReplicaSet', replicaSet: replicaSet({ name: 'web-1' }) }, write);
    expect(pace.apply(key, plan, rolling)).toBe(plan);
  });

  test('a plan without a status write is left alone', () => {
    const { pace } = setUp();
    const plan = planOf(resize);
    expect(pace.apply(key, plan, rolling)).toBe(plan);
  });
});
