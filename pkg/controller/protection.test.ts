import { describe, expect, test } from 'vitest';

import { PersistentVolumeClaims } from '../api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { finalizerChange } from './protection.ts';

const finalizer = 'example.com/in-use';
const deletionTimestamp = '2026-01-01T00:00:00Z';

describe('finalizerChange', () => {
  test.each([
    { title: 'an object without finalizers gets it', metadata: {}, expected: 'add' },
    { title: 'finalizers of others do not count', metadata: { finalizers: ['a'] }, expected: 'add' },
    { title: 'an object that has it keeps it', metadata: { finalizers: ['a', finalizer] }, expected: undefined },
    {
      title: 'a terminating object may lose it',
      metadata: { finalizers: [finalizer], deletionTimestamp },
      expected: 'remove',
    },
    {
      title: 'a terminating object never gets it',
      metadata: { finalizers: ['a'], deletionTimestamp },
      expected: undefined,
    },
    { title: 'a terminating object without any never gets it', metadata: { deletionTimestamp }, expected: undefined },
  ])('$title', ({ metadata, expected }) => {
    const claim = frozen(build(PersistentVolumeClaims, { metadata }, { spec: {} }));
    expect(finalizerChange(claim, finalizer)).toBe(expected);
  });
});
