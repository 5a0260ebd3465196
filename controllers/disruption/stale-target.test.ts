import { describe, expect, test } from 'vitest';

import { findCondition, formatTime, type Pod, type PodCondition } from '../../pkg/api/index.ts';
import { frozen, pod, runningStatus } from '../../test/support/builders.ts';
import { staleTargetAfterMs, withoutTarget } from './stale-target.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const targeted = (condition: Partial<PodCondition>, shape: Partial<Pod['metadata']> & { phase?: string } = {}): Pod => {
  const { phase = 'Running', ...metadata } = shape;
  const target = { type: 'DisruptionTarget', status: 'True', lastTransitionTime: formatTime(nowMs - 30_000) };
  const { conditions = [] } = runningStatus();
  return pod({
    metadata: { generation: 3, ...metadata },
    status: runningStatus({ phase, conditions: [{ ...target, ...condition }, ...conditions] }),
  });
};

describe('staleTargetAfterMs', () => {
  const rows: { name: string; of: Pod; afterMs: number | undefined }[] = [
    { name: 'two minutes after the condition was set', of: targeted({}), afterMs: 90_000 },
    {
      name: 'at once if they have passed',
      of: targeted({ lastTransitionTime: formatTime(nowMs - 500_000) }),
      afterMs: 0,
    },
    { name: 'at once without a time', of: targeted({ lastTransitionTime: null }), afterMs: 0 },
    { name: 'never for a condition that is False', of: targeted({ status: 'False' }), afterMs: undefined },
    { name: "never for the kubelet's", of: targeted({ reason: 'TerminationByKubelet' }), afterMs: undefined },
    {
      name: 'never for a terminating pod',
      of: targeted({}, { deletionTimestamp: formatTime(nowMs) }),
      afterMs: undefined,
    },
    { name: 'never for a finished pod', of: targeted({}, { phase: 'Failed' }), afterMs: undefined },
    { name: 'never without the condition', of: pod({ status: runningStatus() }), afterMs: undefined },
  ];
  for (const { name, of, afterMs } of rows)
    test(name, () => expect(staleTargetAfterMs(frozen(of), nowMs)).toBe(afterMs));
});

test('a cleared condition loses its reason, and keeps its place', () => {
  const before = targeted({ reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' });
  const status = withoutTarget(frozen(before), nowMs);
  expect(status.conditions?.map(({ type }) => type)).toEqual(before.status?.conditions?.map(({ type }) => type));
  expect(findCondition(status.conditions, 'DisruptionTarget')).toEqual({
    type: 'DisruptionTarget',
    status: 'False',
    lastTransitionTime: formatTime(nowMs),
    observedGeneration: 3,
  });
  expect(status.phase).toBe('Running');
});
