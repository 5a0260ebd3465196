import { describe, expect, test } from 'vitest';

import type { Attachment, Operation } from './actual-state.ts';
import {
  attachTimeoutMs,
  maxWaitForUnmountMs,
  planVolume,
  type Action,
  type AttachmentObject,
  type NodeSnapshot,
  type VolumeSnapshot,
} from './plan.ts';

const nowMs = 1_000_000;
const healthy = { isMissing: false, isHealthy: true, isOutOfService: false, isInUse: false };
const mounted = { ...healthy, isInUse: true };
const lost = { ...mounted, isHealthy: false };
/** Deleted before this process started: whether its kubelet uses the volume, nobody knows. */
const missing = { ...lost, isMissing: true };
const absent: AttachmentObject = { kind: 'absent' };
const present = { kind: 'present', isBeingDeleted: false, isAttached: false } as const;
const attached: Attachment = { state: 'attached', report: 'wanted' };
const unneeded = (forMs = 0): Attachment => ({ ...attached, unneededSinceMs: nowMs - forMs });
const withdrawn = (forMs = 0): Attachment => ({ ...unneeded(forMs), report: 'absent' });
const maybe = (attachment: Attachment): Attachment => ({ ...attachment, state: 'uncertain', report: 'absent' });
const running = (kind: Operation['kind'], forMs = 0): Operation => {
  return { kind, phase: 'running', sinceMs: nowMs - forMs, delayMs: 0 };
};
const failed = (kind: Operation['kind'], forMs: number): Operation => {
  return { kind, phase: 'failed', sinceMs: nowMs - forMs, delayMs: 1000 };
};
const need = { isConflictReported: false };
const at = (fields: Partial<NodeSnapshot> = {}): NodeSnapshot => {
  return { nodeName: 'a', node: healthy, object: absent, ...fields };
};
const plan = (nodes: NodeSnapshot[], fields: Partial<VolumeSnapshot> = {}) =>
  planVolume({
    nodes,
    isExclusive: true,
    csi: { driver: 'd', volumeHandle: 'h' },
    isForceDetachDisabled: false,
    nowMs,
    ...fields,
  });

interface Row {
  readonly name: string;
  readonly node: NodeSnapshot;
  readonly action?: Omit<Action, 'nodeName'> & Record<string, unknown>;
  readonly wakeInMs?: number;
  readonly isForceDetachDisabled?: boolean;
}

const expiredMs = maxWaitForUnmountMs + 1;
const attachRows: Row[] = [
  { name: 'a needed volume is attached', node: at({ need }), action: { kind: 'attach' } },
  { name: 'an attached volume stays', node: at({ need, attachment: attached }) },
  {
    name: 'a volume that is needed again is kept',
    node: at({ need, attachment: withdrawn() }),
    action: { kind: 'keep' },
  },
  {
    name: 'an uncertain volume is attached again',
    node: at({ need, attachment: { ...withdrawn(), state: 'uncertain' } }),
    action: { kind: 'attach' },
  },
  {
    name: 'an attach waits for its VolumeAttachment',
    node: at({ need, operation: running('attach') }),
    wakeInMs: attachTimeoutMs,
  },
  {
    name: 'an attach waits for the attacher',
    node: at({ need, operation: running('attach', 1000), object: present }),
    wakeInMs: attachTimeoutMs - 1000,
  },
  {
    name: 'an attach ends when the attacher says so',
    node: at({ need, operation: running('attach'), object: { ...present, isAttached: true } }),
    action: { kind: 'attached' },
  },
  {
    name: 'a plugin without VolumeAttachments attaches at once',
    node: at({ need, operation: running('attach'), object: undefined }),
    action: { kind: 'attached' },
  },
  {
    name: 'an attach fails with the error of the attacher',
    node: at({ need, operation: running('attach'), object: { ...present, attachError: 'no' } }),
    action: { kind: 'failed', problem: 'no' },
  },
  {
    name: 'an attach fails while its VolumeAttachment is being deleted',
    node: at({ need, operation: running('attach'), object: { ...present, isAttached: true, isBeingDeleted: true } }),
    action: { kind: 'failed', problem: 'volume attachment is being deleted' },
  },
  {
    name: 'an attach times out',
    node: at({ need, operation: running('attach', attachTimeoutMs), object: present }),
    action: { kind: 'failed', problem: 'timed out waiting for external-attacher of d CSI driver to attach volume h' },
  },
  {
    name: 'a failed attach waits',
    node: at({ need, operation: failed('attach', 400), object: present }),
    wakeInMs: 600,
  },
  {
    name: 'a failed attach is tried again',
    node: at({ need, operation: failed('attach', 1000), object: present }),
    action: { kind: 'attach' },
  },
  {
    name: 'a failed attach that succeeded late does not wait',
    node: at({ need, operation: failed('attach', 0), object: { ...present, isAttached: true } }),
    action: { kind: 'attach' },
  },
  {
    name: 'an attach does not wait after a failed detach',
    node: at({ need, operation: failed('detach', 0) }),
    action: { kind: 'attach' },
  },
];

const detachRows: Row[] = [
  {
    name: 'the time is noted when nobody needs a volume any more',
    node: at({ attachment: attached }),
    action: { kind: 'request-detach' },
  },
  {
    name: 'the node is told first',
    node: at({ attachment: unneeded() }),
    action: { kind: 'withdraw' },
  },
  {
    name: 'a detach waits until the status of the node is written',
    node: at({ attachment: { ...unneeded(), report: 'withdrawn' } }),
  },
  { name: 'then it is detached', node: at({ attachment: withdrawn() }), action: { kind: 'detach', verifies: true } },
  { name: 'a mounted volume stays', node: at({ attachment: unneeded(expiredMs), node: mounted }) },
  {
    name: 'a volume on a lost node stays for a while',
    node: at({ attachment: unneeded(1000), node: lost }),
    wakeInMs: maxWaitForUnmountMs - 1000 + 1,
  },
  {
    name: 'a volume on a lost node is detached by force at last',
    node: at({ attachment: withdrawn(expiredMs), node: lost }),
    action: { kind: 'detach', verifies: false, forced: 'timeout' },
  },
  {
    name: 'a volume on a lost node stays if force is disabled',
    node: at({ attachment: withdrawn(expiredMs), node: lost }),
    isForceDetachDisabled: true,
  },
  {
    name: 'a volume that may be on a deleted Node stays for a while',
    node: at({ attachment: maybe(unneeded(1000)), node: missing, object: present }),
    wakeInMs: maxWaitForUnmountMs - 1000 + 1,
  },
  {
    name: 'so it does if force is disabled, since other nodes may have it then',
    node: at({ attachment: maybe(unneeded(1000)), node: missing, object: present }),
    wakeInMs: maxWaitForUnmountMs - 1000 + 1,
    isForceDetachDisabled: true,
  },
  {
    name: 'then it is not detached if force is disabled, and nothing is left to wait for',
    node: at({ attachment: maybe(unneeded(expiredMs)), node: missing, object: present }),
    isForceDetachDisabled: true,
  },
  {
    name: 'a volume without VolumeAttachment on a deleted Node is detached',
    node: at({ attachment: maybe(attached), node: missing }),
    action: { kind: 'detached' },
  },
  {
    name: 'so it is while a failed detach waits',
    node: at({ attachment: maybe(withdrawn()), node: missing, operation: failed('detach', 0) }),
    action: { kind: 'detached' },
  },
  {
    name: 'the VolumeAttachment of a failed attach to a deleted Node may still come',
    node: at({ attachment: maybe(attached), node: missing, operation: failed('attach', 0) }),
    action: { kind: 'request-detach' },
  },
  {
    name: 'a volume that is attached for certain stays on a deleted Node that used it if force is disabled',
    node: at({ attachment: unneeded(1000), node: missing, object: present }),
    isForceDetachDisabled: true,
  },
  {
    name: 'a mounted volume of a machine that is out of service is detached by force',
    node: at({ attachment: withdrawn(), node: { ...lost, isOutOfService: true } }),
    action: { kind: 'detach', verifies: false, forced: 'out-of-service' },
  },
  {
    name: 'a detach ends when the VolumeAttachment is gone',
    node: at({ attachment: withdrawn(), operation: running('detach') }),
    action: { kind: 'detached' },
  },
  {
    name: 'a VolumeAttachment that the cache does not have yet is not gone',
    node: at({ attachment: withdrawn(), operation: running('detach'), object: { kind: 'unobserved' } }),
    wakeInMs: attachTimeoutMs,
  },
  {
    name: 'a detach fails with the error of the attacher',
    node: at({ attachment: withdrawn(), operation: running('detach'), object: { ...present, detachError: 'no' } }),
    action: { kind: 'failed', problem: 'no' },
  },
  {
    name: 'a detach times out',
    node: at({ attachment: withdrawn(), operation: running('detach', attachTimeoutMs), object: present }),
    action: {
      kind: 'failed',
      problem: 'timed out waiting for external-attacher of unknown CSI driver to detach volume h',
    },
  },
  {
    name: 'a failed detach waits',
    node: at({ attachment: withdrawn(), operation: failed('detach', 400), object: present }),
    wakeInMs: 600,
  },
  {
    name: 'a failed detach that succeeded late does not wait',
    node: at({ attachment: withdrawn(), operation: failed('detach', 400), object: absent }),
    action: { kind: 'detach', verifies: true },
  },
  {
    name: 'an attach that nobody needs any more ends first',
    node: at({ operation: running('attach'), object: present }),
    wakeInMs: attachTimeoutMs,
  },
];

describe('planVolume', () => {
  for (const { name, node, action, wakeInMs, isForceDetachDisabled = false } of [...attachRows, ...detachRows]) {
    test(name, () => {
      const actions = action === undefined ? [] : [{ ...action, nodeName: 'a' }];
      expect(plan([node], { isForceDetachDisabled })).toEqual({ actions, ...(actions.length === 0 && { wakeInMs }) });
    });
  }

  const b = (fields: Partial<NodeSnapshot> = {}): NodeSnapshot => at({ nodeName: 'b', need, ...fields });

  test('an exclusive volume that another node has is not attached, and this is said once', () => {
    const other = at({ need, attachment: attached });
    expect(plan([other, b()]).actions).toEqual([{ kind: 'conflict', nodeName: 'b', others: ['a'] }]);
    expect(plan([other, b({ need: { isConflictReported: true } })]).actions).toEqual([]);
  });

  test('an exclusive volume waits for an operation on another node', () => {
    expect(plan([at({ attachment: withdrawn(), operation: running('detach'), object: present }), b()]).actions).toEqual(
      [],
    );
  });

  describe('an exclusive volume that may be on another node', () => {
    const rows: [string, AttachmentObject, boolean][] = [
      ['is attached if that node never got it', { ...present, attachError: 'no' }, true],
      [
        'is attached if its detach failed',
        { ...present, isAttached: true, isBeingDeleted: true, detachError: 'no' },
        true,
      ],
      ['waits for a detach', { ...present, isAttached: true, isBeingDeleted: true }, false],
      ['waits if the detach could not be requested', { ...present, isAttached: true }, false],
    ];
    for (const [name, object, isAttached] of rows) {
      test(name, () => {
        const attachment: Attachment = { ...withdrawn(), state: 'uncertain' };
        const other = at({ attachment, operation: failed('detach', 0), object });
        expect(plan([other, b()]).actions[0]?.kind).toBe(isAttached ? 'attach' : 'conflict');
      });
    }
  });

  test('after a restart, an exclusive volume that may be on another node is not attached before that is known', () => {
    const other = at({ need, attachment: { ...withdrawn(), state: 'uncertain' }, object: present });
    expect(plan([other, b()]).actions).toEqual([
      { kind: 'attach', nodeName: 'a' },
      { kind: 'conflict', nodeName: 'b', others: ['a'] },
    ]);
  });

  describe('after a restart, an exclusive volume that may be on a Node that was deleted', () => {
    const rows: [string, Partial<NodeSnapshot>, Action['kind']][] = [
      ['is held for a while', { attachment: maybe(unneeded(1000)), object: present }, 'conflict'],
      [
        'is held until the time has passed',
        { attachment: maybe(unneeded(expiredMs - 1)), object: present },
        'conflict',
      ],
      ['is attached then', { attachment: maybe(unneeded(expiredMs)), object: present }, 'attach'],
    ];
    for (const [name, fields, kind] of rows) {
      test(name, () => {
        const nodes = [at({ node: missing, ...fields }), b()];
        expect(plan(nodes, { isForceDetachDisabled: true }).actions[0]?.kind).toBe(kind);
      });
    }

    test('is held while the Node is there, however long', () => {
      const other = at({ attachment: maybe(unneeded(expiredMs)), node: lost, object: present });
      expect(plan([other, b()], { isForceDetachDisabled: true }).actions[0]?.kind).toBe('conflict');
    });

    test('is free as soon as its VolumeAttachment is gone, wherever it may have been', () => {
      const other = at({ attachment: maybe(unneeded()), node: lost });
      expect(plan([other, b()]).actions[0]?.kind).toBe('attach');
    });
  });

  test('of two nodes that need an exclusive volume one gets it', () => {
    expect(plan([at({ need }), b()]).actions).toEqual([{ kind: 'attach', nodeName: 'a' }]);
  });

  test('a shared volume is attached to all nodes at once', () => {
    const nodes = [at({ need, attachment: attached }), b(), at({ nodeName: 'c', need })];
    expect(plan(nodes, { isExclusive: false }).actions.map(({ nodeName }) => nodeName)).toEqual(['b', 'c']);
  });

  test('a volume is detached before it is attached elsewhere', () => {
    expect(plan([at({ attachment: withdrawn() }), b()]).actions.map(({ kind }) => kind)).toEqual(['detach']);
  });
});
