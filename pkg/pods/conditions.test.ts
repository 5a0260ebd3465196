import { describe, expect, test } from 'vitest';

import type { PodCondition } from '../api/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import { changedPodCondition } from './conditions.ts';

describe('changedPodCondition', () => {
  const wanted = { type: 'DisruptionTarget', status: 'True', reason: 'Because', message: 'it has to go' };
  const nowMs = Date.parse('2026-01-02T00:00:00Z');
  const [then, now] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'];
  const rows: { name: string; present: PodCondition[]; expected: PodCondition | undefined }[] = [
    {
      name: 'adds one that is missing',
      present: [{ type: 'Ready', status: 'True' }],
      expected: { ...wanted, lastTransitionTime: now, observedGeneration: 7 },
    },
    {
      name: 'returns undefined for an equal condition',
      present: [{ ...wanted, lastTransitionTime: then }],
      expected: undefined,
    },
    {
      name: 'changes the reason without a new transition time',
      present: [{ ...wanted, reason: 'Else', lastTransitionTime: then }],
      expected: { ...wanted, lastTransitionTime: then, observedGeneration: 7 },
    },
    {
      name: 'changes the transition time with the status',
      present: [{ ...wanted, status: 'False', lastTransitionTime: then }],
      expected: { ...wanted, lastTransitionTime: now, observedGeneration: 7 },
    },
  ];
  for (const { name, present, expected } of rows) {
    test(name, () => {
      const given = frozen(pod({ metadata: { generation: 7 }, status: { conditions: present } }));
      expect(changedPodCondition(given, wanted, nowMs)).toEqual(expected);
    });
  }
});
