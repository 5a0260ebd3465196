import { describe, expect, test } from 'vitest';
import { creationTime, frozen, node } from '../../test/support/builders.ts';
import { buildLease, buildNode, healthyConditions, planNodeReport } from './node-object.ts';

const nowMs = Date.parse(creationTime);
const machine = { name: 'hollow-node-0', ip: '172.16.0.1', zone: 'zone-a', labels: { disk: 'ssd' }, podCapacity: 110 };
const registered = frozen(
  node({ name: machine.name, status: buildNode(machine, healthyConditions, nowMs).status ?? {} }),
);

describe('buildNode', () => {
  test('a node has the fields that a kubelet sets', () => {
    expect(buildNode(machine, healthyConditions, nowMs)).toMatchObject({
      metadata: {
        labels: {
          'kubernetes.io/hostname': 'hollow-node-0',
          'kubernetes.io/os': 'linux',
          'topology.kubernetes.io/zone': 'zone-a',
          disk: 'ssd',
        },
      },
      status: {
        capacity: { pods: '110' },
        addresses: [
          { type: 'InternalIP', address: '172.16.0.1' },
          { type: 'Hostname', address: 'hollow-node-0' },
        ],
      },
    });
  });
});

describe('planNodeReport', () => {
  const report = {
    node: registered,
    wanted: healthyConditions,
    volumesInUse: [],
    reportedAtMs: nowMs,
    reportEveryMs: 1000,
  };

  test('no report is due without a change', () => {
    expect(planNodeReport({ ...report, nowMs: nowMs + 999 })).toEqual({ nextReportMs: nowMs + 1000 });
  });

  test('an unchanged status is reported again as a heartbeat, with the old transition times', () => {
    const { patch } = planNodeReport({ ...report, nowMs: nowMs + 1000 });
    expect(patch).toMatchObject({
      status: {
        conditions: Array.from(healthyConditions, () => ({
          lastHeartbeatTime: '2026-01-01T00:00:01Z',
          lastTransitionTime: creationTime,
        })),
      },
    });
  });

  test('volumes that pods use, or use no more, are reported at once', () => {
    const inUse = ['kubernetes.io/csi/d^a'];
    expect(planNodeReport({ ...report, volumesInUse: inUse, nowMs }).patch).toMatchObject({
      status: { volumesInUse: inUse },
    });
    const using = frozen({ ...registered, status: { ...registered.status, volumesInUse: inUse } });
    expect(planNodeReport({ ...report, node: using, nowMs }).patch).toMatchObject({ status: { volumesInUse: null } });
  });

  test('a condition that another client has changed is corrected at once', () => {
    const marked = frozen(node({ name: 'a', status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }));
    expect(planNodeReport({ ...report, node: marked, nowMs }).patch).toBeDefined();
  });
});

test('a lease belongs to its node', () => {
  expect(buildLease(registered, nowMs)).toMatchObject({
    metadata: { ownerReferences: [{ kind: 'Node', name: machine.name, uid: registered.metadata.uid }] },
    spec: { holderIdentity: machine.name, leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' },
  });
});
