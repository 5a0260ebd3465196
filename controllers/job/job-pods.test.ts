import { describe, expect, test } from 'vitest';

import type { Pod } from '../../pkg/api/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import { remainingIndexBackoffMs } from './backoff.ts';
import { endedAtMs } from './job-pods.ts';

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const ended = (name: string, finishedAt: string | null | undefined) => ({
  name,
  image: 'example',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', finishedAt } },
});
const notReady = (lastTransitionTime: string | null) => [{ type: 'Ready', status: 'False', lastTransitionTime }];

interface Row {
  readonly name: string;
  readonly pod: { metadata?: Partial<Pod['metadata']>; status?: Pod['status']; spec?: Partial<Pod['spec']> };
  readonly expected: string;
}

const rows: readonly Row[] = [
  {
    name: 'the end of the last container',
    pod: { status: { containerStatuses: [ended('a', at(20)), ended('b', at(30))], conditions: notReady(at(40)) } },
    expected: at(30),
  },
  {
    name: 'the time since it is not ready, if a container has a null time',
    pod: { status: { containerStatuses: [ended('a', at(20)), ended('b', null)], conditions: notReady(at(40)) } },
    expected: at(40),
  },
  {
    name: 'its deletion, if the condition has a null time too',
    pod: {
      metadata: { deletionTimestamp: at(50), deletionGracePeriodSeconds: 5 },
      status: { containerStatuses: [ended('a', null)], conditions: notReady(null) },
    },
    expected: at(45),
  },
  {
    name: 'its creation, if no other time is known',
    pod: { metadata: { creationTimestamp: at(10) }, status: { containerStatuses: [ended('a', null)] } },
    expected: at(10),
  },
  {
    name: 'the end of its sidecar, if the container has a null time',
    pod: {
      spec: { initContainers: [{ name: 'side', restartPolicy: 'Always' }] },
      status: { containerStatuses: [ended('a', null)], initContainerStatuses: [ended('side', at(33))] },
    },
    expected: at(33),
  },
];

describe('endedAtMs', () => {
  for (const { name, pod: described, expected } of rows) {
    test(`is ${name}`, () => {
      const failed = frozen(pod({ name: 'failed', ...described }));
      expect(endedAtMs(failed)).toBe(Date.parse(expected));
      expect(remainingIndexBackoffMs(failed, Date.parse(expected) + 4000)).toBe(6000);
    });
  }
});
