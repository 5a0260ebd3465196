import { describe, expect, test } from 'vitest';

import { Jobs, ReplicaSets, type Pod } from '../api/index.ts';
import { type Described, frozen, job, pod, replicaSet } from '../../test/support/builders.ts';
import { selectPodSettings } from './settings.ts';

const ofJob = { owner: { kind: Jobs, object: job() } };
const ofSet = { owner: { kind: ReplicaSets, object: replicaSet() } };
const runsFor = (text: string) => ({ 'hollow-node/finish-after': text });
const exits = (text: string) => ({ 'hollow-node/exit-code': text });

describe('how long containers run', () => {
  const rows: { name: string; pod: Described<Pod>; jobRunMs?: number; expected: number | undefined }[] = [
    { name: 'forever by default', pod: ofSet, expected: undefined },
    { name: 'a moment in a pod of a Job', pod: ofJob, expected: 700 },
    {
      name: 'forever in a pod of a Job, if the simulation says so',
      pod: ofJob,
      jobRunMs: Infinity,
      expected: undefined,
    },
    { name: 'as long as the annotation says', pod: { ...ofJob, annotations: runsFor('3s') }, expected: 3000 },
    { name: 'as long as the label says', pod: { ...ofSet, labels: runsFor('3s') }, expected: 3000 },
    { name: 'not at all', pod: { ...ofSet, annotations: runsFor('0s') }, expected: 0 },
    { name: 'forever although a Job waits', pod: { ...ofJob, annotations: runsFor('never') }, expected: undefined },
    { name: 'a moment, if an exit code is wanted', pod: { ...ofSet, annotations: exits('1') }, expected: 1000 },
    {
      name: 'forever, if that is said with an exit code',
      pod: { ...ofSet, annotations: { ...exits('1'), ...runsFor('never') } },
      expected: undefined,
    },
    { name: 'as if not set, if the value is invalid', pod: { ...ofJob, annotations: runsFor('soon') }, expected: 700 },
  ];
  for (const { name, jobRunMs = 700, expected, ...row } of rows) {
    test(name, () => {
      const defaults = { readyDelayMs: 0, restartBackoffMs: 0, jobRunMs };
      expect(selectPodSettings(frozen(pod(row.pod)), defaults).finishAfterMs).toBe(expected);
    });
  }
});

test('invalid exit codes and delays count as not set', () => {
  const annotations = { ...exits('x,2'), 'hollow-node/ready-after': 'soon', 'hollow-node/never-ready': 'yes' };
  const defaults = { readyDelayMs: 7, restartBackoffMs: 0, jobRunMs: 0 };
  const settings = selectPodSettings(frozen(pod({ annotations })), defaults);
  expect(settings).toMatchObject({ readyDelayMs: 7, exitCodes: [2], neverReady: false });
});
