import { describe, expect, test } from 'vitest';

import { persistentVolumeClaim } from '../../test/support/builders.ts';
import { classOfClaim, namedClassOf } from './index.ts';

describe('the class of a claim', () => {
  const annotations = { 'volume.beta.kubernetes.io/storage-class': 'old' };
  const rows = [
    { name: 'is that of its specification', claim: { spec: { storageClassName: 'new' } }, named: 'new' },
    {
      name: 'is that of its annotation first',
      claim: { annotations, spec: { storageClassName: 'new' } },
      named: 'old',
    },
    { name: 'may be empty', claim: { spec: { storageClassName: '' } }, named: '' },
    { name: 'may be absent', claim: {}, named: undefined },
  ];
  for (const { name, claim, named } of rows) {
    test(name, () => {
      const built = persistentVolumeClaim({ name: 'data', ...claim });
      expect([namedClassOf(built), classOfClaim(built)]).toEqual([named, named ?? '']);
    });
  }
});
