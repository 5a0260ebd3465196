import { describe, expect, test } from 'vitest';
import type { ContainerStatus, Pod, PodStatus } from '../api/index.ts';
import { creationTime, type Described, frozen, pod, runningStatus } from '../../test/support/builders.ts';
import { planPodStep, type PodStep } from './pod-lifecycle.ts';
import { selectPodSettings } from './settings.ts';

const startMs = Date.parse(creationTime);

interface Row {
  readonly name: string;
  readonly pod: Described<Pod>;
  /** Since the creation, which is also the start. */
  readonly atMs?: number;
  readonly readyDelayMs?: number;
  readonly stopDelayMs?: number;
  readonly expected: PodStep;
}

const running = (container: Partial<ContainerStatus> = {}, status: PodStatus & { ready?: boolean } = {}): PodStatus => {
  const base = runningStatus(status);
  return { ...base, containerStatuses: (base.containerStatuses ?? []).map((one) => ({ ...one, ...container })) };
};
const crashedAfter = (restartCount: number): PodStatus =>
  running(
    {
      ready: false,
      restartCount,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 1, finishedAt: creationTime } },
    },
    { ready: false },
  );
const deletedWithGrace = (seconds: number): Described<Pod>['metadata'] => ({
  deletionTimestamp: new Date(startMs + seconds * 1000).toISOString(),
  deletionGracePeriodSeconds: seconds,
});
const finishing = { 'hollow-node/finish-after': '2s' };

const defaults = { readyDelayMs: 0, jobRunMs: Infinity, restartBackoffMs: 10_000 };

const rows: readonly Row[] = [
  { name: 'starts and is ready at once without a delay', pod: {}, expected: { kind: 'start', ready: true } },
  {
    name: 'starts unready when readiness takes time',
    pod: {},
    readyDelayMs: 1,
    expected: { kind: 'start', ready: false },
  },
  {
    name: 'starts unready when it shall never be ready',
    pod: { annotations: { 'hollow-node/never-ready': 'true' } },
    expected: { kind: 'start', ready: false },
  },
  {
    name: 'never starts with never-start',
    pod: { annotations: { 'hollow-node/never-start': 'true' } },
    expected: { kind: 'none' },
  },
  { name: 'has nothing to do while it runs and is ready', pod: { status: running() }, expected: { kind: 'none' } },
  {
    name: 'waits for readiness',
    pod: { status: running({}, { ready: false }) },
    readyDelayMs: 500,
    atMs: 499,
    expected: { kind: 'wait', untilMs: startMs + 500 },
  },
  {
    name: 'is ready when the delay is over',
    pod: { status: running({}, { ready: false }) },
    readyDelayMs: 500,
    atMs: 500,
    expected: { kind: 'setReady', ready: true },
  },
  {
    name: 'prefers the delay that the pod asks for',
    pod: { status: running({}, { ready: false }), annotations: { 'hollow-node/ready-after': '3s' } },
    atMs: 1000,
    expected: { kind: 'wait', untilMs: startMs + 3000 },
  },
  {
    name: 'becomes not ready with never-ready while it runs',
    pod: { status: running(), annotations: { 'hollow-node/never-ready': 'true' } },
    expected: { kind: 'setReady', ready: false },
  },
  {
    name: 'reports again when a readiness gate has closed',
    pod: { status: running(), spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } },
    expected: { kind: 'setReady', ready: true },
  },
  {
    name: 'stays not ready with a false readiness gate',
    pod: {
      status: running({ ready: true }, { ready: false }),
      spec: { readinessGates: [{ conditionType: 'example.com/gate' }] },
    },
    expected: { kind: 'none' },
  },
  {
    name: 'waits for its end',
    pod: { status: running(), spec: { restartPolicy: 'Never' }, annotations: finishing },
    atMs: 1999,
    expected: { kind: 'wait', untilMs: startMs + 2000 },
  },
  {
    name: 'succeeds at its end',
    pod: { status: running(), spec: { restartPolicy: 'Never' }, annotations: finishing },
    atMs: 2000,
    expected: { kind: 'finish', exitCode: 0 },
  },
  {
    name: 'accepts settings as labels',
    pod: {
      status: running(),
      spec: { restartPolicy: 'Never' },
      labels: { ...finishing, 'hollow-node/exit-code': '3' },
    },
    atMs: 2000,
    expected: { kind: 'finish', exitCode: 3 },
  },
  {
    name: 'succeeds with OnFailure when the code is 0',
    pod: { status: running(), spec: { restartPolicy: 'OnFailure' }, annotations: finishing },
    atMs: 2000,
    expected: { kind: 'finish', exitCode: 0 },
  },
  {
    name: 'restarts at once after its first failure with OnFailure',
    pod: {
      status: running(),
      spec: { restartPolicy: 'OnFailure' },
      annotations: { ...finishing, 'hollow-node/exit-code': '1' },
    },
    atMs: 2000,
    expected: { kind: 'restart', exitCode: 1, ready: true },
  },
  {
    name: 'waits after its second failure',
    pod: {
      status: running({ restartCount: 1 }),
      spec: { restartPolicy: 'OnFailure' },
      annotations: { ...finishing, 'hollow-node/exit-code': '1' },
    },
    atMs: 2000,
    expected: { kind: 'crash', exitCode: 1 },
  },
  {
    name: 'uses the exit code of the current run',
    pod: {
      status: running({ restartCount: 1 }),
      spec: { restartPolicy: 'OnFailure' },
      annotations: { ...finishing, 'hollow-node/exit-code': '1,0' },
    },
    atMs: 2000,
    expected: { kind: 'finish', exitCode: 0 },
  },
  {
    name: 'restarts even after success with Always',
    pod: { status: running(), annotations: finishing },
    atMs: 2000,
    expected: { kind: 'restart', exitCode: 0, ready: true },
  },
  {
    name: 'waits ten seconds before the second restart',
    pod: { status: crashedAfter(1) },
    atMs: 9999,
    expected: { kind: 'wait', untilMs: startMs + 10_000 },
  },
  {
    name: 'doubles the wait before the third',
    pod: { status: crashedAfter(2) },
    atMs: 19_999,
    expected: { kind: 'wait', untilMs: startMs + 20_000 },
  },
  {
    name: 'never waits longer than five minutes',
    pod: { status: crashedAfter(20) },
    atMs: 300_000,
    expected: { kind: 'restart', ready: true },
  },
  { name: 'does not change after it has finished', pod: { status: { phase: 'Failed' } }, expected: { kind: 'none' } },
  {
    name: 'runs on until its grace period ends',
    pod: { status: running(), metadata: deletedWithGrace(30) },
    atMs: 29_999,
    expected: { kind: 'wait', untilMs: startMs + 30_000 },
  },
  {
    name: 'is killed when its grace period ends',
    pod: { status: running(), metadata: deletedWithGrace(30) },
    atMs: 30_000,
    expected: { kind: 'stop', exitCode: 137 },
  },
  {
    name: 'stops earlier when it can',
    pod: { status: running(), metadata: deletedWithGrace(30) },
    stopDelayMs: 1000,
    atMs: 1000,
    expected: { kind: 'stop', exitCode: 143 },
  },
  {
    name: 'never stops later than its grace period, however slow it is',
    pod: { status: running(), metadata: deletedWithGrace(1) },
    stopDelayMs: 5000,
    atMs: 1000,
    expected: { kind: 'stop', exitCode: 137 },
  },
  {
    name: 'stops with the code it asks for',
    pod: { status: running(), metadata: deletedWithGrace(0), annotations: { 'hollow-node/stop-exit-code': '0' } },
    expected: { kind: 'stop', exitCode: 0 },
  },
  {
    name: 'is stopped without ever having started',
    pod: { metadata: deletedWithGrace(0) },
    expected: { kind: 'stop', exitCode: 137 },
  },
  {
    name: 'is removed once it is deleted and has stopped',
    pod: { status: { phase: 'Failed' }, metadata: deletedWithGrace(30) },
    expected: { kind: 'remove' },
  },
  {
    name: 'is left to its finalizers with grace period 0',
    pod: { status: { phase: 'Failed' }, metadata: deletedWithGrace(0) },
    expected: { kind: 'none' },
  },
];

describe('planPodStep', () => {
  for (const { name, atMs = 0, readyDelayMs = 0, stopDelayMs, expected, ...row } of rows) {
    test(`a pod ${name}`, () => {
      const built = frozen(pod(row.pod));
      const settings = selectPodSettings(built, { ...defaults, readyDelayMs, stopDelayMs });
      expect(planPodStep({ pod: built, settings, nowMs: startMs + atMs })).toEqual(expected);
    });
  }

  test('a start known to the millisecond counts more than the whole seconds of the status', () => {
    const built = frozen(pod({ status: running(), spec: { restartPolicy: 'Never' }, annotations: finishing }));
    const settings = selectPodSettings(built, defaults);
    const step = planPodStep({ pod: built, settings, startedAtMs: startMs + 900, nowMs: startMs + 2000 });
    expect(step).toEqual({ kind: 'wait', untilMs: startMs + 2900 });
  });
});
