import { describe, expect, test } from 'vitest';

import { objectKey, type Cached, type Deployment } from '../../pkg/api/index.ts';
import { StatusPace } from '../../pkg/controller/index.ts';
import { deployment, frozen } from '../../test/support/builders.ts';
import type { Action, Plan } from './plan.ts';
import { paceStatus } from './status-pace.ts';

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
  const apply = (plan: Plan, owner: Cached<Deployment>): Plan => paceStatus(plan, { key, deployment: owner, pace });
  return { apply, pace, advance: (ms: number) => (nowMs += ms) };
}

describe('paceStatus', () => {
  test('a status that changes alone is written at once', () => {
    const { apply, pace } = setUp();
    for (const plan of [planOf(write), planOf(annotate, write)]) {
      expect(apply(plan, rolling)).toBe(plan);
      pace.forget(key);
    }
  });

  test('the status of a sync that resizes a ReplicaSet is written by a later sync', () => {
    const { apply, advance } = setUp();
    expect(apply(planOf(resize, write), rolling)).toEqual({
      actions: [resize],
      result: { requeueAfterMs: 100 },
    });
    advance(60);
    expect(apply(planOf(write), rolling)).toEqual({ actions: [], result: { requeueAfterMs: 40 } });
    advance(40);
    expect(apply(planOf(write), rolling)).toEqual(planOf(write));
  });

  test('a pod that has terminated is counted with the next, or after the interval', () => {
    const { apply, advance } = setUp();
    const plan = planOf({
      kind: 'updateStatus',
      deployment: frozen({ ...rolling, status: { ...rolling.status, terminatingReplicas: 1 } }),
    });
    expect(apply(plan, rolling)).toEqual({ actions: [], result: { requeueAfterMs: 100 } });
    advance(100);
    expect(apply(plan, rolling)).toBe(plan);
  });

  test('a Deployment that resizes in every sync has its status written all the same', () => {
    const { apply, advance } = setUp();
    apply(planOf(resize, write), rolling);
    advance(100);
    expect(apply(planOf(resize, write), rolling)).toEqual(planOf(resize, write));
  });

  test('a new generation is observed at once', () => {
    const { apply } = setUp();
    apply(planOf(resize, write), rolling);
    expect(apply(planOf(resize, write), changed)).toEqual(planOf(resize, write));
  });

  test('another reason for the progress is written at once: the rollout may be complete by the next write', () => {
    const { apply } = setUp();
    apply(planOf(write), rolling);
    const condition = { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' };
    const begun = frozen({ ...rolling, status: { ...rolling.status, conditions: [condition] } });
    const plan = planOf(resize, { kind: 'updateStatus', deployment: begun });
    expect(apply(plan, rolling)).toBe(plan);
    expect(apply(plan, begun)).toMatchObject({ actions: [resize] });
  });

  test('a plan without a status write is left alone', () => {
    const { apply } = setUp();
    const plan = planOf(resize);
    expect(apply(plan, rolling)).toBe(plan);
  });
});
