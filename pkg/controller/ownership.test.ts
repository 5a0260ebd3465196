import { describe, expect, test } from 'vitest';

import { selectorFromSet, type ConfigMap } from '../api/index.ts';
import { planClaims } from './ownership.ts';

interface Shape {
  readonly labels?: Record<string, string>;
  readonly controller?: string;
  readonly terminating?: boolean;
  readonly namespace?: string;
}

function object(
  name: string,
  { labels = { app: 'web' }, controller, terminating, namespace = 'default' }: Shape = {},
): ConfigMap {
  return {
    metadata: {
      name,
      namespace,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels,
      ...(terminating === true ? { deletionTimestamp: '2026-01-02T00:00:00Z' } : {}),
      ...(controller === undefined
        ? {}
        : {
            ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: controller, uid: controller, controller: true }],
          }),
    },
  };
}

describe('planClaims', () => {
  const other = { app: 'other' };
  const rows: {
    name: string;
    candidate: Shape;
    owner?: Shape;
    expected: 'claimed' | 'adopt' | 'release' | 'ignored';
  }[] = [
    { name: 'keeps what the owner controls and selects', candidate: { controller: 'owner' }, expected: 'claimed' },
    {
      name: 'keeps its own while the owner leaves',
      candidate: { controller: 'owner' },
      owner: { terminating: true },
      expected: 'claimed',
    },
    {
      name: 'keeps its own terminating object',
      candidate: { controller: 'owner', terminating: true },
      expected: 'claimed',
    },
    {
      name: 'releases objects that are no longer selected',
      candidate: { controller: 'owner', labels: other },
      expected: 'release',
    },
    {
      name: 'releases nothing while the owner leaves',
      candidate: { controller: 'owner', labels: other },
      owner: { terminating: true },
      expected: 'ignored',
    },
    { name: 'adopts a selected orphan', candidate: {}, expected: 'adopt' },
    { name: 'ignores an orphan that is not selected', candidate: { labels: other }, expected: 'ignored' },
    { name: 'ignores a terminating orphan', candidate: { terminating: true }, expected: 'ignored' },
    {
      name: 'adopts nothing for a terminating owner',
      candidate: {},
      owner: { terminating: true },
      expected: 'ignored',
    },
    { name: 'ignores an orphan of another namespace', candidate: { namespace: 'elsewhere' }, expected: 'ignored' },
    { name: 'ignores what another controls', candidate: { controller: 'another' }, expected: 'ignored' },
  ];
  for (const { name, candidate, owner = {}, expected } of rows) {
    test(name, () => {
      const plan = planClaims(object('owner', owner), selectorFromSet({ app: 'web' }), [object('it', candidate)]);
      const found = (['claimed', 'adopt', 'release'] as const).filter((list) => plan[list].length > 0);
      expect(found).toEqual(expected === 'ignored' ? [] : [expected]);
    });
  }
});
