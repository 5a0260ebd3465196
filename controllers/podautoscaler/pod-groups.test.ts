import { describe, expect, test } from 'vitest';

import { formatTime } from '../../pkg/api/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import { groupPods } from './pod-groups.ts';

const nowMs = Date.parse('2026-06-01T12:00:00Z');
const ago = (seconds: number): string => formatTime(nowMs - seconds * 1000);
const readiness = { cpuInitializationMs: 300_000, initialReadinessDelayMs: 30_000, nowMs };

interface Row {
  readonly name: string;
  readonly phase?: string;
  readonly startTime?: string | null;
  /** The condition Ready. */
  readonly ready?: { status: string; since?: string | null };
  readonly metric?: { ageSeconds: number; windowSeconds?: number };
  readonly deleted?: boolean;
  readonly resource?: string;
  readonly group: 'ready' | 'unready' | 'missing' | 'ignored';
}

const long = { startTime: ago(3600), ready: { status: 'True', since: ago(3500) }, metric: { ageSeconds: 10 } };
const young = { startTime: ago(100), metric: { ageSeconds: 10, windowSeconds: 30 } };
const rows: readonly Row[] = [
  { name: 'a pod that has been ready for long', ...long, group: 'ready' },
  { name: 'a terminating pod', ...long, deleted: true, group: 'ignored' },
  { name: 'a failed pod', ...long, phase: 'Failed', group: 'ignored' },
  { name: 'a pending pod', ...long, phase: 'Pending', group: 'unready' },
  { name: 'a pod without a metric', startTime: ago(3600), ready: { status: 'True' }, group: 'missing' },
  { name: 'a pod without a Ready condition', startTime: ago(3600), metric: { ageSeconds: 1 }, group: 'unready' },
  { name: 'a pod without a start time', ...long, startTime: null, group: 'unready' },
  { name: 'a starting pod that is not ready', ...young, ready: { status: 'False', since: ago(90) }, group: 'unready' },
  {
    name: 'a starting pod, measured for a whole window since it was ready',
    ...young,
    ready: { status: 'True', since: ago(40) },
    group: 'ready',
  },
  {
    name: 'a starting pod, measured partly before it was ready',
    ...young,
    ready: { status: 'True', since: ago(39) },
    group: 'unready',
  },
  {
    name: 'an old pod that has never been ready',
    ...long,
    ready: { status: 'False', since: ago(3571) },
    group: 'unready',
  },
  {
    name: 'an old pod that was ready once',
    ...long,
    ready: { status: 'False', since: ago(3570) },
    group: 'ready',
  },
  {
    name: 'an old pod whose readiness has no time',
    ...long,
    ready: { status: 'False', since: null },
    group: 'unready',
  },
  { name: 'an old pod of unknown readiness', ...long, ready: { status: 'Unknown', since: ago(1) }, group: 'ready' },
  {
    name: 'any running pod, for another resource than CPU',
    ...young,
    ready: { status: 'False', since: ago(1) },
    resource: 'memory',
    group: 'ready',
  },
];

describe('groupPods', () => {
  for (const { name, phase = 'Running', startTime, ready, metric, deleted, resource = 'cpu', group } of rows) {
    test(`${name}: ${group}`, () => {
      const condition = ready && { type: 'Ready', status: ready.status, lastTransitionTime: ready.since };
      const status = { phase, startTime, conditions: condition === undefined ? [] : [condition] };
      const metadata = deleted === true ? { deletionTimestamp: ago(1) } : {};
      const web = pod({ name: 'web', metadata, status });
      const value = metric && {
        timestampMs: nowMs - metric.ageSeconds * 1000,
        windowMs: (metric.windowSeconds ?? 60) * 1000,
        value: 1n,
      };
      const metrics = new Map(value === undefined ? [] : [['web', value]]);
      const { readyCount, unready, missing, ignored } = groupPods([frozen(web)], metrics, resource, readiness);
      const groups = { ready: readyCount, unready: unready.size, missing: missing.size, ignored: ignored.size };
      expect(groups).toEqual({ ready: 0, unready: 0, missing: 0, ignored: 0, [group]: 1 });
    });
  }
});
