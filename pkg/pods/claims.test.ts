import { describe, expect, test } from 'vitest';

import { Pods } from '../api/index.ts';
import { frozen, persistentVolumeClaim, pod } from '../../test/support/builders.ts';
import { claimReferencesOf, referencesTo } from './claims.ts';

const ephemeral = { volumeClaimTemplate: { spec: {} } };
const volumes = [
  { name: 'scratch', ephemeral },
  { name: 'none', emptyDir: {} },
  { name: 'data', persistentVolumeClaim: { claimName: 'shared' } },
];
const user = frozen(pod({ name: 'user', namespace: 'play', spec: { volumes } }));

test('a pod refers to the claims of its volumes, in their order', () => {
  expect(claimReferencesOf(user)).toEqual([
    { key: 'play/user-scratch', isEphemeral: true },
    { key: 'play/shared', isEphemeral: false },
  ]);
});

test('a pod without volumes refers to no claim', () => {
  expect(claimReferencesOf(frozen(pod()))).toEqual([]);
});

describe('a claim is referred to', () => {
  const owner = { kind: Pods, object: user };
  test.each([
    { title: 'by its name', claim: { name: 'shared', namespace: 'play' }, expected: 1 },
    { title: 'in its own namespace only', claim: { name: 'shared', namespace: 'other' }, expected: 0 },
    {
      title: 'by an ephemeral volume of its controller',
      claim: { name: 'user-scratch', namespace: 'play', owner },
      expected: 1,
    },
    {
      title: 'by no ephemeral volume of a pod that does not control it',
      claim: { name: 'user-scratch', namespace: 'play' },
      expected: 0,
    },
  ])('$title', ({ claim, expected }) => {
    expect(referencesTo(frozen(persistentVolumeClaim(claim)), user)).toHaveLength(expected);
  });
});
