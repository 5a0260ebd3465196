import { describe, expect, test } from 'vitest';

import {
  formatTime,
  HorizontalPodAutoscalers,
  ReplicaSets,
  type Cached,
  type HorizontalPodAutoscaler,
  type MetricSpec,
  type Scale,
} from '../../pkg/api/index.ts';
import { build, frozen, pod } from '../../test/support/builders.ts';
import type { MetricReading } from './metric-reading.ts';
import { concludeSync, isSameStatus } from './outcome.ts';
import { planSync, type Snapshot, type TargetReading } from './plan.ts';
import { refuseAmbiguous } from './selection.ts';

const nowMs = Date.parse('2026-06-01T00:00:00Z');
const settings = {
  syncPeriodMs: 15_000,
  downscaleStabilizationMs: 300_000,
  tolerance: 0.1,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
  configurableTolerance: true,
  scaleToZero: false,
  podLevelResources: true,
};
const external: MetricSpec = {
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: 'Value', value: '10' } },
};
const queued = (value: bigint): MetricReading => ({ kind: 'external', values: [value * 1000n] });
const failed: MetricReading = { kind: 'failed', message: 'no answer' };
const since = '2026-01-01T00:00:00Z';
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] };
const web = frozen(pod({ name: 'web', labels: { app: 'web' }, status: ready }));

interface Given {
  readonly replicas?: number;
  readonly spec?: Partial<HorizontalPodAutoscaler['spec']>;
  readonly status?: HorizontalPodAutoscaler['status'];
  readonly readings?: readonly MetricReading[];
  readonly changed?: Partial<Snapshot>;
  readonly scaleToZero?: boolean;
}

function snapshot({
  replicas = 1,
  spec,
  status,
  readings = [queued(10n)],
  changed,
  scaleToZero = false,
}: Given): Snapshot {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
  const metrics = readings.map(() => external);
  const full = { scaleTargetRef, minReplicas: 1, maxReplicas: 10, metrics, ...spec };
  const scale: Cached<Scale> = { spec: { replicas }, status: { replicas, selector: 'app=web' } };
  const target: TargetReading = { kind: 'found', resource: ReplicaSets, scale };
  return {
    autoscaler: frozen(
      build<HorizontalPodAutoscaler>(HorizontalPodAutoscalers, { name: 'web' }, { spec: full, status }),
    ),
    target,
    selection: { kind: 'selected', selector: 'app=web', pods: [web] },
    readings: readings.map((reading) => ({ reading, durationMs: 1 })),
    history: undefined,
    settings: { ...settings, scaleToZero },
    nowMs,
    monotonicMs: 1000,
    ...changed,
  };
}

/** What a sync shows to its user. */
function outcomeOf(given: Given, scaleError?: string) {
  const taken = snapshot(given);
  const plan = planSync(taken);
  const { status, events, lateEvents, action, failure } = concludeSync(plan, taken, scaleError);
  const shown = (status.conditions ?? []).map(({ type, status: value, reason }) => `${type}=${value} ${reason}`);
  const reasons = [...plan.events, ...events, ...lateEvents].map(({ reason }) => reason);
  return { replicas: status.desiredReplicas, conditions: shown, events: reasons, action, failure: failure?.message };
}

const able = (reason: string): string => `AbleToScale=True ${reason}`;
const active = 'ScalingActive=True ValidMetricFound';
const inRange = 'ScalingLimited=False DesiredWithinRange';

interface Row extends Given {
  readonly name: string;
  readonly scaleError?: string;
  readonly expected: Partial<ReturnType<typeof outcomeOf>>;
}

const scaledToZero = { type: 'ScaledToZero', status: 'True', reason: 'ScaledToZero' };
const rows: readonly Row[] = [
  {
    name: 'stays while the metric is on target',
    expected: { replicas: 1, conditions: [able('ReadyForNewScale'), active, inRange], events: [], action: 'none' },
  },
  {
    name: 'scales up',
    readings: [queued(30n)],
    expected: {
      replicas: 3,
      conditions: [able('SucceededRescale'), active, inRange],
      events: ['SuccessfulRescale'],
      action: 'scale_up',
    },
  },
  {
    name: 'says that the maximum limits it',
    readings: [queued(900n)],
    spec: { maxReplicas: 3 },
    expected: { replicas: 3, conditions: [able('SucceededRescale'), active, 'ScalingLimited=True TooManyReplicas'] },
  },
  {
    name: 'does not scale down at once after a start',
    replicas: 4,
    readings: [queued(1n)],
    expected: { replicas: 4, conditions: [able('ScaleDownStabilized'), active, inRange], action: 'none' },
  },
  {
    name: 'scales down after the window',
    replicas: 4,
    readings: [queued(1n)],
    changed: { history: { recommendations: [], scaleUps: [], scaleDowns: [] } },
    expected: { replicas: 1, events: ['SuccessfulRescale'], action: 'scale_down' },
  },
  {
    name: 'reports a metric that cannot be read',
    readings: [failed],
    status: { desiredReplicas: 7, currentReplicas: 1 },
    expected: {
      replicas: 7,
      conditions: [able('SucceededGetScale'), 'ScalingActive=False FailedGetExternalMetric'],
      events: ['FailedGetExternalMetric', 'FailedComputeMetricsReplicas'],
      action: 'none',
      failure: expect.stringMatching(/^failed to compute desired number of replicas .* for ReplicaSet\/default\/web: /),
    },
  },
  {
    name: 'scales up by one metric while another cannot be read, and reports that',
    readings: [queued(30n), failed],
    expected: {
      replicas: 3,
      events: ['FailedGetExternalMetric', 'SuccessfulRescale'],
      failure: expect.stringContaining('invalid metrics (1 invalid out of 2), first error is: '),
    },
  },
  {
    name: 'never scales down while a metric cannot be read',
    replicas: 4,
    readings: [queued(1n), failed],
    changed: { history: { recommendations: [], scaleUps: [], scaleDowns: [] } },
    expected: { replicas: 0, conditions: [able('SucceededGetScale'), 'ScalingActive=False FailedGetExternalMetric'] },
  },
  {
    name: 'reports a target that is not found',
    status: { desiredReplicas: 2 },
    changed: { target: { kind: 'failed', message: 'not found', error: 'failed to query', isSpec: false } },
    expected: {
      replicas: 2,
      conditions: ['AbleToScale=False FailedGetScale'],
      events: ['FailedGetScale'],
      failure: 'failed to query',
    },
  },
  {
    name: 'reports a scale that cannot be written',
    readings: [queued(30n)],
    scaleError: 'refused',
    expected: {
      replicas: 0,
      conditions: ['AbleToScale=False FailedUpdateScale', active, inRange],
      events: ['FailedRescale'],
      failure: 'failed to rescale ReplicaSet/default/web: refused',
    },
  },
  {
    name: 'returns to the maximum, without metrics',
    replicas: 12,
    readings: [failed],
    expected: { replicas: 10, conditions: [able('SucceededRescale')], events: ['SuccessfulRescale'] },
  },
  {
    name: 'is off while a user has scaled to zero',
    replicas: 0,
    expected: {
      replicas: 0,
      conditions: [able('SucceededGetScale'), 'ScalingActive=False ScalingDisabled'],
      events: [],
    },
  },
  {
    name: 'refuses pods of another autoscaler',
    changed: { selection: refuseAmbiguous('app=web', []) },
    expected: { conditions: [able('SucceededGetScale'), 'ScalingActive=False AmbiguousSelector'] },
  },
  {
    name: 'scales to zero with the gate',
    scaleToZero: true,
    spec: { minReplicas: 0 },
    readings: [queued(0n)],
    changed: { history: { recommendations: [], scaleUps: [], scaleDowns: [] } },
    expected: {
      replicas: 0,
      conditions: [able('SucceededRescale'), active, inRange, 'ScaledToZero=True ScaledToZero'],
      action: 'scale_down',
    },
  },
  {
    name: 'scales from zero again',
    scaleToZero: true,
    replicas: 0,
    spec: { minReplicas: 0 },
    status: { desiredReplicas: 0, conditions: [scaledToZero] },
    readings: [queued(25n)],
    expected: { replicas: 3, events: ['SuccessfulRescale'], action: 'scale_up' },
  },
  {
    name: 'leaves zero when the minimum is raised',
    scaleToZero: true,
    replicas: 0,
    spec: { minReplicas: 2 },
    status: { desiredReplicas: 0, conditions: [scaledToZero] },
    readings: [queued(0n)],
    expected: { replicas: 2, events: ['SuccessfulRescale'] },
  },
  {
    name: 'forgets without the gate that it has scaled to zero',
    replicas: 0,
    status: { desiredReplicas: 0, conditions: [scaledToZero] },
    expected: { conditions: [able('SucceededGetScale'), 'ScalingActive=False ScalingDisabled'] },
  },
  {
    name: 'takes the tolerance of its behavior',
    readings: [queued(15n)],
    spec: { behavior: { scaleUp: { tolerance: '600m', stabilizationWindowSeconds: 0 }, scaleDown: {} } },
    expected: { replicas: 1, events: [] },
  },
];

describe('a sync', () => {
  for (const { name, scaleError, expected, ...given } of rows) {
    test(name, () => expect(outcomeOf(given, scaleError)).toMatchObject(expected));
  }

  test('remembers changes for the policies of a behavior', () => {
    const rules = { selectPolicy: 'Max', policies: [{ type: 'Pods', value: 4, periodSeconds: 60 }] };
    const spec = { behavior: { scaleUp: { ...rules, stabilizationWindowSeconds: 0 }, scaleDown: rules } };
    const taken = snapshot({ readings: [queued(30n)], spec });
    const { history } = concludeSync(planSync(taken), taken, undefined);
    expect(history?.scaleUps).toEqual([{ change: 2, atMs: 1000, isOutdated: false }]);
  });

  test('keeps the time of a condition whose status stays', () => {
    const lastTransitionTime = formatTime(nowMs - 60_000);
    const conditions = [{ type: 'AbleToScale', status: 'True', reason: 'x', lastTransitionTime }];
    const taken = snapshot({ status: { desiredReplicas: 1, conditions } });
    const [kept] = planSync(taken).conditions;
    expect(kept).toMatchObject({ reason: 'ReadyForNewScale', lastTransitionTime });
  });
});

describe('a status is not written if it is the same', () => {
  const base = { desiredReplicas: 0, conditions: [{ type: 'a', status: 'True' }] };
  const rows: [name: string, old: object | undefined, next: object, isSame: boolean][] = [
    ['a zero that the server omits', base, { ...base, currentReplicas: 0 }, true],
    ['null instead of an empty list', { ...base, currentMetrics: null }, { ...base, currentMetrics: [] }, true],
    ['another number', base, { ...base, desiredReplicas: 1 }, false],
    ['a condition more', undefined, base, false],
    ['a metric that could not be read', base, { ...base, currentMetrics: [{ type: '' }] }, false],
  ];
  test.each(rows)('%s', (_name, old, next, isSame) => {
    expect(isSameStatus(old as never, next as never)).toBe(isSame);
  });
});
