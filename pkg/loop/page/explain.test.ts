import { describe, expect, test } from 'vitest';

import type { ConditionLine, ObjectPage, ReconcileRecord } from '../protocol.ts';
import { describeWait, explain, isUnmet } from './explain.ts';

const fine: ObjectPage = {
  kind: 'Deployment',
  resource: 'deployments.apps',
  namespace: 'shop',
  name: 'web',
  exists: true,
  state: 'good',
  text: '3 of 3 available',
  conditions: [],
  owners: [],
  owned: [],
  waits: [],
  history: [],
  events: [],
  recordedSinceMs: 0,
};

function condition(type: string, status: string, reason = '', message = ''): ConditionLine {
  return { type, status, reason, message, since: '2026-01-01T00:00:00Z' };
}

function record(fields: Partial<ReconcileRecord>): ReconcileRecord {
  const base = { id: 1, controller: 'deployment-controller', key: 'shop/web', startedMs: 0, durationMs: 1 };
  return { ...base, outcome: 'success', reads: [], plan: [], requests: [], ...fields };
}

const deadline = condition('Progressing', 'False', 'ProgressDeadlineExceeded', 'ReplicaSet "web-1" has timed out.');
const refusal = condition('ReplicaFailure', 'True', 'FailedCreate', 'exceeded quota');
const failed = record({ outcome: 'error', error: 'create pods: timeout' });

const rows: readonly { name: string; page: Partial<ObjectPage>; state: string; sentence: string }[] = [
  { name: 'says how it is', page: {}, state: 'good', sentence: '3 of 3 available.' },
  {
    name: 'says that it is gone',
    page: { exists: false },
    state: 'ended',
    sentence: 'The cache has no such object. It was deleted, or never existed.',
  },
  {
    name: 'names a missed deadline',
    page: { conditions: [deadline] },
    state: 'bad',
    sentence: 'ProgressDeadlineExceeded: ReplicaSet "web-1" has timed out.',
  },
  {
    name: 'prefers the refusal, which is its cause',
    page: { conditions: [deadline, refusal] },
    state: 'bad',
    sentence: 'FailedCreate: exceeded quota.',
  },
  {
    name: 'names the last error',
    page: { history: [failed] },
    state: 'bad',
    sentence: 'deployment-controller failed: create pods: timeout.',
  },
  {
    name: 'forgets an error after a success',
    page: { history: [record({ id: 2 }), failed] },
    state: 'good',
    sentence: '3 of 3 available.',
  },
  {
    name: 'keeps an error while the next reconcile runs',
    page: { history: [record({ outcome: 'running' }), failed] },
    state: 'bad',
    sentence: 'deployment-controller failed: create pods: timeout.',
  },
  {
    name: 'names the condition of a bad state',
    page: { state: 'bad', conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown')] },
    state: 'bad',
    sentence: 'NodeStatusUnknown: Ready is Unknown.',
  },
  {
    name: 'waits for the controller',
    page: { generation: 4, observedGeneration: 3 },
    state: 'busy',
    sentence: 'Its controller has not yet observed generation 4: its status is of 3.',
  },
  {
    name: 'says what a busy object waits for',
    page: {
      state: 'busy',
      text: '1 of 3 available',
      waits: [{ controller: 'deployment-controller', state: 'delayed', ms: 42_000, retries: 0 }],
    },
    state: 'busy',
    sentence: '1 of 3 available. Requeued by deployment-controller: due in 40 s.',
  },
];

describe('explain', () => {
  for (const { name, page, state, sentence } of rows) {
    test(name, () => expect(explain({ ...fine, ...page }, 2000)).toEqual({ state, sentence }));
  }
});

test.each([
  { state: 'waiting', ms: 0, retries: 0, expected: 'In the queue of job' },
  { state: 'running', ms: 500, retries: 0, expected: 'job reconciles it, since 2 s' },
  { state: 'delayed', ms: 1000, retries: 0, expected: 'Requeued by job: due now' },
  { state: 'delayed', ms: 9000, retries: 1, expected: 'job retries in 8 s, after 1 failure in a row' },
  { state: 'delayed', ms: 9000, retries: 3, expected: 'job retries in 8 s, after 3 failures in a row' },
] as const)('a key that is $state: $expected', ({ expected, ...wait }) => {
  expect(describeWait({ controller: 'job', ...wait }, 1500)).toBe(expected);
});

test.each([
  { type: 'Available', status: 'True', unmet: false },
  { type: 'Available', status: 'Unknown', unmet: true },
  { type: 'MemoryPressure', status: 'False', unmet: false },
  { type: 'NetworkUnavailable', status: 'True', unmet: true },
])('$type $status', ({ type, status, unmet }) => {
  expect(isUnmet(condition(type, status))).toBe(unmet);
});
