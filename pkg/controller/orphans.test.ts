import { describe, expect, test } from 'vitest';

import { type Pod, ReplicaSets } from '../api/index.ts';
import type { Store } from '../../informers/index.ts';
import { frozen, pod, replicaSet } from '../../test/support/builders.ts';
import { orphansByLabel, orphansWith } from './orphans.ts';

const owner = { kind: ReplicaSets, object: replicaSet() };
const pods = frozen([
  pod({ name: 'web', labels: { app: 'web' } }),
  pod({ name: 'hashed', labels: { app: 'web', 'pod-template-hash': 'bcdf' } }),
  pod({ name: 'plain' }),
  pod({ name: 'owned', labels: { app: 'web' }, owner }),
  pod({ name: 'elsewhere', namespace: 'other', labels: { app: 'web' } }),
]);

const store: Pick<Store<Pod>, 'byIndex'> = {
  byIndex: (index, value) => pods.filter((object) => index.valuesOf(object).includes(value)),
};

describe('orphansWith', () => {
  const rows = [
    {
      name: 'finds orphans with the label in the namespace',
      required: { app: 'web' },
      expected: ['web', 'hashed'],
    },
    {
      name: 'uses the longest of several labels',
      required: { app: 'web', 'pod-template-hash': 'bcdf' },
      expected: ['hashed'],
    },
    {
      name: 'finds all of the namespace where no label is demanded',
      required: {},
      expected: ['web', 'hashed', 'plain'],
    },
    { name: 'finds none under a label that none has', required: { app: 'other' }, expected: [] },
  ];
  for (const { name, required, expected } of rows) {
    test(name, () => {
      const found = orphansWith(store as Store<Pod>, 'default', required);
      expect(found.map(({ metadata }) => metadata.name)).toEqual(expected);
    });
  }

  test('an object that has an owner is indexed nowhere', () => {
    expect(pods.map((object) => orphansByLabel.valuesOf(object).length)).toEqual([2, 3, 1, 0, 2]);
  });
});
