import { expect, test } from 'vitest';

import { keyOf } from '../../pkg/api/index.ts';
import { frozen } from '../../test/support/builders.ts';
import { allocated, resourceClaim } from '../../test/support/claim-builders.ts';
import { claimFinalizer } from './claim-plan.ts';
import { Leftovers } from './leftovers.ts';

const protectedClaim = (resourceVersion: string) =>
  frozen(resourceClaim({ metadata: { finalizers: [claimFinalizer], resourceVersion } }));

test('a finalizer without allocation is a leftover once nothing has changed for five seconds', () => {
  const leftovers = new Leftovers();
  expect(leftovers.waitMs(protectedClaim('1'), 0)).toBe(5000);
  expect(leftovers.waitMs(protectedClaim('1'), 3000)).toBe(2000);
  expect(leftovers.waitMs(protectedClaim('2'), 4000)).toBe(5000);
  expect(leftovers.waitMs(protectedClaim('2'), 9000)).toBe(0);
  leftovers.forget(keyOf(protectedClaim('2')));
  expect(leftovers.waitMs(protectedClaim('2'), 9000)).toBe(5000);
});

test('a claim without the finalizer, with an allocation or being deleted is none', () => {
  const finalizers = [claimFinalizer];
  const claims = [
    resourceClaim(),
    resourceClaim({ metadata: { finalizers }, status: allocated() }),
    resourceClaim({ metadata: { finalizers, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
  ];
  const leftovers = new Leftovers();
  for (const claim of claims) {
    expect(leftovers.waitMs(frozen(claim), 0)).toBeUndefined();
    expect(leftovers.waitMs(frozen(claim), 60_000)).toBeUndefined();
  }
});
