import { describe, expect, test } from 'vitest';

import { controllerReference, Pods } from '../../pkg/api/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import { allocated, resourceClaim } from '../../test/support/claim-builders.ts';
import { claimFinalizer, owningPodOf, planClaim, type ClaimPlan } from './claim-plan.ts';

const consumer = (name: string) => ({ resource: 'pods', name, uid: name });
const [kept, gone] = [consumer('kept'), consumer('gone')];
const isProtected = { finalizers: ['example.com/other', claimFinalizer] };
const deletionTimestamp = '2026-01-01T00:00:00Z';
const isDeleted = { ...isProtected, deletionTimestamp };
const nothing: ClaimPlan = { removesFinalizer: false, deletes: false };

describe('a claim', () => {
  const rows = [
    { name: 'in use stays', status: allocated(kept), metadata: isProtected, expected: nothing },
    { name: 'in use stays although its pod is done', status: allocated(kept), isOwnerDone: true, expected: nothing },
    { name: 'that nobody ever used stays allocated', status: allocated(), metadata: isProtected, expected: nothing },
    {
      name: 'loses the consumers that are gone',
      status: allocated(gone, kept),
      metadata: isProtected,
      expected: { status: { reservedFor: [kept], deallocates: false }, removesFinalizer: false, deletes: false },
    },
    {
      name: 'is deallocated with its last consumer',
      status: allocated(gone),
      metadata: isProtected,
      expected: { status: { reservedFor: [], deallocates: true }, removesFinalizer: true, deletes: false },
    },
    {
      name: 'of another allocator keeps its allocation',
      status: allocated(gone),
      expected: { status: { reservedFor: [], deallocates: false }, removesFinalizer: false, deletes: false },
    },
    {
      name: 'is deleted with its last consumer if its pod is done',
      status: allocated(gone),
      metadata: isProtected,
      isOwnerDone: true,
      expected: { status: { reservedFor: [], deallocates: true }, removesFinalizer: true, deletes: true },
    },
    { name: 'is deleted if its pod never ran', isOwnerDone: true, expected: { ...nothing, deletes: true } },
    {
      name: 'that is being deleted is deallocated and freed',
      status: allocated(),
      metadata: isDeleted,
      isOwnerDone: true,
      expected: { status: { reservedFor: [], deallocates: true }, removesFinalizer: true, deletes: false },
    },
    {
      name: 'loses a finalizer that was left over',
      metadata: isProtected,
      isLeftOver: true,
      expected: { ...nothing, removesFinalizer: true },
    },
    {
      name: 'that is being deleted is freed without allocation',
      metadata: isDeleted,
      expected: { ...nothing, removesFinalizer: true },
    },
    {
      name: 'that is being deleted stays while in use',
      status: allocated(kept),
      metadata: isDeleted,
      expected: nothing,
    },
  ];
  for (const { name, status, metadata, isOwnerDone = false, isLeftOver = false, expected } of rows) {
    test(name, () => {
      const claim = frozen(resourceClaim({ status, metadata }));
      expect(planClaim({ claim, isGone: ({ uid }) => uid === 'gone', isOwnerDone, isLeftOver })).toEqual(expected);
    });
  }
});

test('only a pod that controls a claim owns it', () => {
  const reference = controllerReference(Pods, frozen(pod({ name: 'user' })));
  const ownedBy = (...ownerReferences: (typeof reference)[]) =>
    owningPodOf(frozen(resourceClaim({ metadata: { ownerReferences } })))?.name;
  expect(ownedBy(reference)).toBe('user');
  expect(ownedBy({ ...reference, controller: false })).toBeUndefined();
  expect(ownedBy({ ...reference, kind: 'PodGroup' })).toBeUndefined();
  expect(ownedBy()).toBeUndefined();
});
