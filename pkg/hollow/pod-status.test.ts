import { describe, expect, test } from 'vitest';
import { findCondition, type Pod, type PodStatus } from '../api/index.ts';
import { container, creationTime, type Described, frozen, pod } from '../../test/support/builders.ts';
import { computePodStatus, podStatusPatch, type StatusStep } from './pod-status.ts';

const nowMs = Date.parse(creationTime);
const place = { hostIP: '172.16.0.1', podIPs: ['10.128.0.7'], nowMs };

/** The status after each of these steps in turn. */
function after(described: Described<Pod>, ...steps: readonly StatusStep[]): PodStatus {
  return steps.reduce<PodStatus>(
    (status, step, index) =>
      computePodStatus(frozen(pod({ ...described, status })), step, { ...place, nowMs: nowMs + index * 1000 }),
    described.status ?? { phase: 'Pending' },
  );
}

const start: StatusStep = { kind: 'start', ready: true };

function conditionsOf(status: PodStatus): Record<string, string> {
  return Object.fromEntries(
    (status.conditions ?? []).map(({ type, status, reason }) => [
      type,
      reason === undefined ? status : `${status} ${reason}`,
    ]),
  );
}

describe('computePodStatus', () => {
  test('a started pod is running and ready, with addresses and every condition a kubelet sets', () => {
    const status = after({}, start);
    expect(status).toMatchObject({
      phase: 'Running',
      observedGeneration: 1,
      hostIP: '172.16.0.1',
      hostIPs: [{ ip: '172.16.0.1' }],
      podIP: '10.128.0.7',
      podIPs: [{ ip: '10.128.0.7' }],
      startTime: creationTime,
    });
    expect(conditionsOf(status)).toEqual({
      PodReadyToStartContainers: 'True',
      Initialized: 'True',
      Ready: 'True',
      ContainersReady: 'True',
      PodScheduled: 'True',
    });
    expect(status.containerStatuses).toMatchObject([
      { name: 'app', ready: true, started: true, restartCount: 0, state: { running: { startedAt: creationTime } } },
    ]);
  });

  test('a pod that is not ready yet names its containers', () => {
    const status = after({}, { kind: 'start', ready: false });
    expect(findCondition(status.conditions, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [app]',
    });
  });

  test('readiness changes the transition time of what changed, and nothing else', () => {
    const status = after({}, { kind: 'start', ready: false }, { kind: 'setReady', ready: true });
    expect(findCondition(status.conditions, 'Ready')?.lastTransitionTime).toBe('2026-01-01T00:00:01Z');
    expect(findCondition(status.conditions, 'Initialized')?.lastTransitionTime).toBe(creationTime);
    expect(status.containerStatuses?.[0]?.state).toEqual({ running: { startedAt: creationTime } });
  });

  test('a closed readiness gate keeps a pod of ready containers unready', () => {
    const status = after({ spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } }, start);
    expect(conditionsOf(status)).toMatchObject({ ContainersReady: 'True', Ready: 'False ReadinessGatesNotReady' });
  });

  const ends = [
    { exitCode: 0, phase: 'Succeeded', reason: 'PodCompleted', containerReason: 'Completed' },
    { exitCode: 3, phase: 'Failed', reason: 'PodFailed', containerReason: 'Error' },
  ];
  for (const { exitCode, phase, reason, containerReason } of ends) {
    test(`exit code ${exitCode} makes a pod ${phase}`, () => {
      const status = after({}, start, { kind: 'finish', exitCode });
      expect(status.phase).toBe(phase);
      expect(conditionsOf(status)).toMatchObject({ Ready: `False ${reason}`, ContainersReady: `False ${reason}` });
      expect(status.containerStatuses?.[0]).toMatchObject({
        ready: false,
        state: {
          terminated: {
            exitCode,
            reason: containerReason,
            startedAt: creationTime,
            finishedAt: '2026-01-01T00:00:01Z',
          },
        },
      });
    });
  }

  test('a restart counts, and keeps how the last run ended', () => {
    const status = after({}, start, { kind: 'restart', exitCode: 1, ready: true });
    expect(status.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      state: { running: { startedAt: '2026-01-01T00:00:01Z' } },
      lastState: { terminated: { exitCode: 1 } },
    });
    expect(status.phase).toBe('Running');
  });

  test('a crash waits with the pod still running, and the restart after it counts once', () => {
    const crashed = after({}, start, { kind: 'crash', exitCode: 1 });
    expect(crashed).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 0, ready: false }] });
    const restarted = after({}, start, { kind: 'crash', exitCode: 1 }, { kind: 'restart', ready: true });
    expect(restarted.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      ready: true,
      lastState: { terminated: { exitCode: 1 } },
    });
  });

  test('a pod stopped before it ran has no address', () => {
    const status = after({}, { kind: 'stop', exitCode: 137 });
    expect(status.phase).toBe('Failed');
    expect(status.podIP).toBeUndefined();
  });

  test('init containers have completed, sidecars run as long as the pod', () => {
    const described: Described<Pod> = {
      spec: {
        initContainers: [container({ name: 'init' }), container({ name: 'sidecar', restartPolicy: 'Always' })],
      },
    };
    expect(after(described, start).initContainerStatuses).toMatchObject([
      { name: 'init', ready: true, state: { terminated: { exitCode: 0 } } },
      { name: 'sidecar', ready: true, state: { running: {} } },
    ]);
    expect(after(described, start, { kind: 'finish', exitCode: 1 }).initContainerStatuses).toMatchObject([
      { name: 'init', ready: true },
      { name: 'sidecar', ready: false, state: { terminated: { exitCode: 0 } } },
    ]);
  });

  test('conditions of other writers stay', () => {
    const disrupted = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
    const status = after({ status: { conditions: [disrupted] } }, start);
    expect(status.conditions).toContainEqual(disrupted);
  });
});

describe('podStatusPatch', () => {
  test('names what a condition has lost, and leaves out conditions of other writers', () => {
    const before = after({}, { kind: 'start', ready: false });
    const gate = { type: 'example.com/gate', status: 'False' };
    const unready = frozen(pod({ status: { ...before, conditions: [...(before.conditions ?? []), gate] } }));
    const patch = podStatusPatch(unready, computePodStatus(unready, { kind: 'setReady', ready: true }, place));
    expect(patch).toMatchObject({
      metadata: { uid: unready.metadata.uid },
      status: {
        conditions: [
          { type: 'PodReadyToStartContainers' },
          { type: 'Initialized' },
          { type: 'Ready', status: 'True', reason: null, message: null },
          { type: 'ContainersReady', status: 'True', reason: null, message: null },
          { type: 'PodScheduled' },
        ],
      },
    });
  });
});
