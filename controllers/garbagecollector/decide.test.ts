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
    { name: 'is none before the deletion, with any finalizer', finalizers: ['orphan'], phase: 'none' },
    { name: 'waits for other finalizers', deletionTimestamp, finalizers: ['example.com/x'], phase: 'deleting' },
    { name: 'waits for its grace period', deletionTimestamp, phase: 'deleting' },
    {
      name: 'waits for dependents to be deleted',
      deletionTimestamp,
      finalizers: ['example.com/x', 'foregroundDeletion'],
      phase: 'deletingDependents',
    },
    {
      name: 'waits for dependents to be orphaned',
      deletionTimestamp,
      finalizers: ['orphan'],
      phase: 'orphaningDependents',
    },
    {
      name: 'orphans if both finalizers are set',
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
    { name: 'is solid while the owner exists', owner: {}, state: 'solid' },
    { name: 'is solid while an owner is deleted in the background', owner: { deletionTimestamp }, state: 'solid' },
    {
      name: 'is solid while the owner orphans its dependents',
      owner: { deletionTimestamp, finalizers: ['orphan'] },
      state: 'solid',
    },
    {
      name: 'is waiting while the owner waits for its dependents',
      owner: { deletionTimestamp, finalizers: ['foregroundDeletion'] },
      state: 'waiting',
    },
    {
      name: 'is solid with the finalizer before the deletion of the owner',
      owner: { finalizers: ['foregroundDeletion'] },
      state: 'solid',
    },
    {
      name: 'is solid for an owner with both finalizers',
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
    { name: 'keeps an object without owner references', owners: {}, action: { type: 'none' } },
    {
      name: 'keeps an object whose owners exist',
      owners: { a: 'solid', b: 'solid' },
      action: { type: 'none' },
    },
    {
      name: 'removes absent owners from an object with another owner',
      owners: { a: 'dangling', b: 'solid', c: 'dangling' },
      action: { type: 'removeOwners', uids: ['a', 'c'] },
    },
    {
      name: 'removes waiting owners from an object that stays',
      owners: { a: 'waiting', b: 'solid', c: 'dangling' },
      action: { type: 'removeOwners', uids: ['a', 'c'] },
    },
    { name: 'deletes an object without existing owners', owners: { a: 'dangling', b: 'dangling' }, action: background },
    {
      name: 'deletes an object without existing owners in the background, also with dependents',
      owners: { a: 'dangling' },
      dependents: ['none', 'deletingDependents'],
      action: background,
    },
    {
      name: 'orphans dependents if the finalizer is set',
      owners: { a: 'dangling' },
      finalizers: ['orphan'],
      action: { type: 'delete', policy: 'Orphan', unblockOwners: false },
    },
    {
      name: 'deletes in the foreground if the finalizer is set',
      owners: { a: 'dangling' },
      finalizers: ['foregroundDeletion'],
      action: foreground,
    },
    {
      name: 'deletes an object without dependents in the background for a waiting owner',
      owners: { a: 'waiting' },
      action: background,
    },
    {
      name: 'deletes an object with dependents in the foreground for a waiting owner',
      owners: { a: 'waiting', b: 'dangling' },
      dependents: ['none', 'deleting'],
      action: foreground,
    },
    {
      name: 'unblocks owners if a dependent waits as well: it may be a cycle',
      owners: { a: 'waiting' },
      dependents: ['none', 'deletingDependents'],
      action: { ...foreground, unblockOwners: true },
    },
    {
      name: 'deletes in the foreground for a waiting owner, with any finalizer',
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

  test('removes a duplicate owner once', () => {
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
      name: 'removes the finalizer if no dependent blocks',
      blocking: {},
      action: { type: 'removeFinalizer', finalizer: 'foregroundDeletion' },
    },
    {
      name: 'enqueues blocking dependents',
      blocking: { a: 'none', b: 'deleting' },
      action: { type: 'attempt', uids: ['a', 'b'] },
    },
    {
      name: 'ignores blocking dependents that wait themselves',
      blocking: { a: 'deletingDependents' },
      action: { type: 'none' },
    },
    {
      name: 'enqueues only blocking dependents that do not wait',
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
