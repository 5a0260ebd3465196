import { describe, expect, test } from 'vitest';

import { frozen, pod, statefulSet } from '../../test/support/builders.ts';
import { isInRange, isMember, ordinalOf, splitPodName } from './ordinals.ts';

describe('the name of a pod', () => {
  const rows = [
    { podName: 'web-0', parent: 'web', ordinal: 0 },
    { podName: 'my-web-12', parent: 'my-web', ordinal: 12 },
    { podName: 'web-2147483647', parent: 'web', ordinal: 2147483647 },
    { podName: 'web-2147483648', parent: 'web', ordinal: undefined },
    { podName: 'web-01', parent: 'web', ordinal: 1 },
    { podName: '-1', parent: '', ordinal: 1 },
    { podName: 'web', parent: undefined, ordinal: undefined },
    { podName: 'web-1a', parent: undefined, ordinal: undefined },
  ];
  for (const { podName, parent, ordinal } of rows) {
    test(`${podName} belongs to ${parent ?? 'no set'} with the ordinal ${ordinal ?? 'undefined'}`, () => {
      expect(splitPodName(podName)?.parent).toBe(parent);
      expect(ordinalOf(frozen(pod({ name: podName })))).toBe(ordinal);
      expect(isMember(frozen(statefulSet({ name: 'web' })), frozen(pod({ name: podName })))).toBe(parent === 'web');
    });
  }
});

describe('isInRange', () => {
  const rows = [
    { name: 'from 0 to one below the replicas', replicas: 3, ordinals: [0, 1, 2], others: [3, 4] },
    { name: 'from the start on', replicas: 2, start: 5, ordinals: [5, 6], others: [0, 4, 7] },
    { name: 'nothing without replicas', replicas: 0, start: 5, ordinals: [], others: [0, 5] },
  ];
  for (const { name, replicas, start, ordinals, others } of rows) {
    test(name, () => {
      const set = frozen(statefulSet({ spec: { replicas, ...(start !== undefined && { ordinals: { start } }) } }));
      expect(ordinals.filter((ordinal) => !isInRange(set, ordinal))).toEqual([]);
      expect(others.filter((ordinal) => isInRange(set, ordinal))).toEqual([]);
    });
  }
});
