import { describe, expect, test } from 'vitest';

import type { Lease, Node, NodeCondition } from '../../pkg/api/index.ts';
import { creationTime, frozen, lease, node } from '../../test/support/builders.ts';
import { afterChanges, judgeHealth, type HealthInput, type NodeHealth } from './health.ts';

const wallMs = Date.parse(creationTime) + 100_000;
const nowMs = 500_000;
const options = { graceMs: 50_000, startupGraceMs: 60_000 };

const condition = (type: string, status: string, heartbeat = creationTime): NodeCondition => ({
  type,
  status,
  reason: 'Said',
  message: 'by the kubelet',
  lastHeartbeatTime: heartbeat,
  lastTransitionTime: creationTime,
});
const withConditions = (...conditions: NodeCondition[]): Node => node({ status: { conditions } });
const ready = withConditions(condition('Ready', 'True'));
const uid = ready.metadata.uid;
const renewed = (renewTime: string | undefined): Lease =>
  lease({ namespace: 'kube-node-lease', name: 'node', spec: renewTime === undefined ? {} : { renewTime } });
const known = (fields: Partial<NodeHealth> = {}): NodeHealth => ({
  uid,
  aliveMs: nowMs - 50_000,
  heartbeat: creationTime,
  leaseRenewal: undefined,
  ready: 'True',
  ...fields,
});

function judge(input: Partial<HealthInput>) {
  const all = { node: ready, lease: undefined, previous: undefined, options, nowMs, wallMs, ...input };
  return judgeHealth(frozen<HealthInput>(all));
}

describe('aliveMs', () => {
  const rows: { name: string; input: Partial<HealthInput>; aliveMs: number }[] = [
    { name: 'is now for a new node', input: {}, aliveMs: nowMs },
    {
      name: 'is the creation time of a node without a Ready condition',
      input: { node: withConditions() },
      aliveMs: nowMs - 100_000,
    },
    {
      name: 'is now if the creation time cannot be parsed',
      input: { node: node({ metadata: { creationTimestamp: '' }, status: {} }) },
      aliveMs: nowMs,
    },
    { name: 'stays without a heartbeat', input: { previous: known() }, aliveMs: nowMs - 50_000 },
    { name: 'moves with the heartbeat', input: { previous: known({ heartbeat: 'earlier' }) }, aliveMs: nowMs },
    {
      name: 'moves when the first condition appears',
      input: { previous: known({ heartbeat: undefined }) },
      aliveMs: nowMs,
    },
    {
      name: 'moves when the condition disappears',
      input: { previous: known(), node: withConditions() },
      aliveMs: nowMs,
    },
    {
      name: 'moves with the first lease',
      input: { previous: known(), lease: renewed('2026-01-01T00:00:01.000000Z') },
      aliveMs: nowMs,
    },
    {
      name: 'moves with a renewal',
      input: {
        previous: known({ leaseRenewal: '2026-01-01T00:00:01.000000Z' }),
        lease: renewed('2026-01-01T00:00:11.000000Z'),
      },
      aliveMs: nowMs,
    },
    {
      name: 'stays while the lease is not renewed',
      input: {
        previous: known({ leaseRenewal: '2026-01-01T00:00:01.000000Z' }),
        lease: renewed('2026-01-01T00:00:01.000000Z'),
      },
      aliveMs: nowMs - 50_000,
    },
    {
      name: 'stays when a lease goes back in time',
      input: {
        previous: known({ leaseRenewal: '2026-01-01T00:00:11.000000Z' }),
        lease: renewed('2026-01-01T00:00:01.000000Z'),
      },
      aliveMs: nowMs - 50_000,
    },
    {
      name: 'stays with a lease without renewTime',
      input: { previous: known({ leaseRenewal: '' }), lease: renewed(undefined) },
      aliveMs: nowMs - 50_000,
    },
    {
      name: 'moves when a lease without renewTime is renewed',
      input: { previous: known({ leaseRenewal: '' }), lease: renewed('2026-01-01T00:00:01.000000Z') },
      aliveMs: nowMs,
    },
    {
      name: 'is now for a recreated node',
      input: { previous: known({ uid: 'other' }) },
      aliveMs: nowMs,
    },
  ];
  for (const { name, input, aliveMs } of rows) test(name, () => expect(judge(input).health.aliveMs).toBe(aliveMs));
});

describe('an unreachable node', () => {
  const silent = { aliveMs: nowMs - 50_001 };
  const brief = (changes: readonly NodeCondition[]) => changes.map(({ type, reason }) => `${type} ${reason ?? ''}`);

  test('becomes Unknown after the grace period', () => {
    expect(judge({ previous: known() }).changes).toEqual([]);
    expect(brief(judge({ previous: known(silent) }).changes)[0]).toBe('Ready NodeStatusUnknown');
  });

  test('without a Ready condition becomes Unknown after the startup grace period', () => {
    const quiet = withConditions();
    const previous = (aliveMs: number): NodeHealth => known({ aliveMs, heartbeat: undefined, ready: undefined });
    expect(judge({ node: quiet, previous: previous(nowMs - 60_000) }).changes).toEqual([]);
    const { changes } = judge({ node: quiet, previous: previous(nowMs - 60_001) });
    expect(brief(changes)).toEqual([
      'Ready NodeStatusNeverUpdated',
      'MemoryPressure NodeStatusNeverUpdated',
      'DiskPressure NodeStatusNeverUpdated',
      'PIDPressure NodeStatusNeverUpdated',
    ]);
    expect(changes[0]).toEqual({
      type: 'Ready',
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: creationTime,
      lastTransitionTime: '2026-01-01T00:01:40Z',
    });
  });

  test('keeps its last heartbeat and its NetworkUnavailable condition', () => {
    const talkative = withConditions(
      condition('NetworkUnavailable', 'False'),
      condition('MemoryPressure', 'False'),
      condition('DiskPressure', 'Unknown'),
      condition('Ready', 'False'),
    );
    const { changes } = judge({ node: talkative, previous: known(silent) });
    expect(brief(changes)).toEqual([
      'Ready NodeStatusUnknown',
      'MemoryPressure NodeStatusUnknown',
      'PIDPressure NodeStatusNeverUpdated',
    ]);
    expect(changes[0]).toEqual({
      type: 'Ready',
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastHeartbeatTime: creationTime,
      lastTransitionTime: '2026-01-01T00:01:40Z',
    });
  });

  test('is not written again once it is Unknown', () => {
    const unknown = withConditions(condition('Ready', 'Unknown'), condition('MemoryPressure', 'False'));
    expect(judge({ node: unknown, previous: known(silent) }).changes).toEqual([]);
  });

  test('is kept with the conditions that were written', () => {
    const { health, changes } = judge({ previous: known(silent) });
    expect(health.ready).toBe('True');
    expect(afterChanges(health, changes)).toMatchObject({ ready: 'Unknown', heartbeat: creationTime });
    expect(afterChanges(health, [])).toBe(health);
  });
});
