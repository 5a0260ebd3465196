import { describe, expect, test } from 'vitest';

import {
  deletionPhase,
  ownerState,
  planForOwned,
  planForWaiting,
  type DeletionPhase,
  type OwnerState,
} from './decide.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';

describe('deletionPhase', () => {
  const rows = [
    { name: 'is none while nobody has deleted it, whatever finalizers it has', finalizers: ['orphan'], phase: 'none' },
    { name: 'waits for others', deletionTimestamp, finalizers: ['example.com/x'], phase: 'deleting' },
    { name: 'waits for its grace period', deletionTimestamp, phase: 'deleting' },
    {
      name: 'waits for dependents to be deleted',
      deletionTimestamp,
      finalizers: ['example.com/x', 'foregroundDeletion'],
      phase: 'deletingDependents',
    },
    {
      name: 'waits for dependents to be let go',
      deletionTimestamp,
      finalizers: ['orphan'],
      phase: 'orphaningDependents',
    },
    {
      name: 'lets go rather than deletes when told both',
      deletionTimestamp,
      finalizers: ['foregroundDeletion', 'orphan'],
      phase: 'orphaningDependents',
    },
  ];
  for (const { name, phase, ...state } of rows) {
    test(name, () => expect(deletionPhase(state)).toBe(phase));
  }
});

describe('ownerState', () => {
  const rows = [
    { name: 'is dangling without an owner', owner: undefined, state: 'dangling' },
    { name: 'is solid while the owner lives', owner: {}, state: 'solid' },
    { name: 'is solid while an owner is deleted in the background', owner: { deletionTimestamp }, state: 'solid' },
    {
      name: 'is solid while the owner lets its dependents go',
      owner: { deletionTimestamp, finalizers: ['orphan'] },
      state: 'solid',
    },
    {
      name: 'is waiting while the owner waits for its dependents',
      owner: { deletionTimestamp, finalizers: ['foregroundDeletion'] },
      state: 'waiting',
    },
    {
      name: 'is solid with the finalizer alone, before anybody deletes the owner',
      owner: { finalizers: ['foregroundDeletion'] },
      state: 'solid',
    },
    {
      name: 'is solid for an owner told to let go and to delete',
      owner: { deletionTimestamp, finalizers: ['foregroundDeletion', 'orphan'] },
      state: 'solid',
    },
  ];
  for (const { name, owner, state } of rows) test(name, () => expect(ownerState(owner)).toBe(state));
});

describe('planForOwned', () => {
  interface Row {
    readonly name: string;
    readonly owners: Readonly<Record<string, OwnerState>>;
    readonly finalizers?: readonly string[];
    readonly dependents?: readonly DeletionPhase[];
    readonly action: object;
  }
  const background = { type: 'delete', policy: 'Background', unblockOwners: false };
  const foreground = { type: 'delete', policy: 'Foreground', unblockOwners: false };
  const rows: readonly Row[] = [
    { name: 'leaves alone what has never had an owner', owners: {}, action: { type: 'none' } },
    {
      name: 'leaves alone what all owners are there for',
      owners: { a: 'solid', b: 'solid' },
      action: { type: 'none' },
    },
    {
      name: 'takes lost owners off what has another',
      owners: { a: 'dangling', b: 'solid', c: 'dangling' },
      action: { type: 'removeOwners', uids: ['a', 'c'] },
    },
    {
      name: 'takes off owners that wait for it, too, as it will not go',
      owners: { a: 'waiting', b: 'solid', c: 'dangling' },
      action: { type: 'removeOwners', uids: ['a', 'c'] },
    },
    { name: 'deletes what has lost all owners', owners: { a: 'dangling', b: 'dangling' }, action: background },
    {
      name: 'deletes in the background what has lost all owners, whatever it owns',
      owners: { a: 'dangling' },
      dependents: ['none', 'deletingDependents'],
      action: background,
    },
    {
      name: 'lets go of dependents where a finalizer says so',
      owners: { a: 'dangling' },
      finalizers: ['orphan'],
      action: { type: 'delete', policy: 'Orphan', unblockOwners: false },
    },
    {
      name: 'waits for dependents where a finalizer says so',
      owners: { a: 'dangling' },
      finalizers: ['foregroundDeletion'],
      action: foreground,
    },
    { name: 'just deletes for an owner that waits what owns nothing', owners: { a: 'waiting' }, action: background },
    {
      name: 'deletes in the foreground for an owner that waits what owns something',
      owners: { a: 'waiting', b: 'dangling' },
      dependents: ['none', 'deleting'],
      action: foreground,
    },
    {
      name: 'blocks no owner any more if one that it owns waits as well: it may be a circle',
      owners: { a: 'waiting' },
      dependents: ['none', 'deletingDependents'],
      action: { ...foreground, unblockOwners: true },
    },
    {
      name: 'deletes in the foreground for an owner that waits, whatever finalizers say of dependents it has',
      owners: { a: 'waiting' },
      finalizers: ['orphan'],
      dependents: ['none'],
      action: foreground,
    },
  ];
  for (const { name, owners, finalizers = [], dependents = [], action } of rows) {
    test(name, () => {
      const states = Object.entries(owners).map(([uid, state]) => ({ uid, state }));
      expect(planForOwned({ owners: states, finalizers, dependents })).toEqual(action);
    });
  }

  test('takes an owner off once that it has twice', () => {
    const owners = [
      { uid: 'a', state: 'dangling' },
      { uid: 'a', state: 'dangling' },
      { uid: 'b', state: 'solid' },
    ] as const;
    expect(planForOwned({ owners, finalizers: [], dependents: [] })).toEqual({ type: 'removeOwners', uids: ['a'] });
  });
});

describe('planForWaiting', () => {
  const rows: readonly { name: string; blocking: Readonly<Record<string, DeletionPhase>>; action: object }[] = [
    {
      name: 'lets the object go when nothing blocks it',
      blocking: {},
      action: { type: 'removeFinalizer', finalizer: 'foregroundDeletion' },
    },
    {
      name: 'sees to those that block it',
      blocking: { a: 'none', b: 'deleting' },
      action: { type: 'attempt', uids: ['a', 'b'] },
    },
    {
      name: 'leaves those alone that wait themselves',
      blocking: { a: 'deletingDependents' },
      action: { type: 'none' },
    },
    {
      name: 'sees to those only that do not',
      blocking: { a: 'deletingDependents', b: 'none' },
      action: { type: 'attempt', uids: ['b'] },
    },
  ];
  for (const { name, blocking, action } of rows) {
    test(name, () => {
      const blockers = Object.entries(blocking).map(([uid, phase]) => ({ uid, phase }));
      expect(planForWaiting(blockers)).toEqual(action);
    });
  }
});
