import { describe, expect, test } from 'vitest';
import { copyOf } from '../pkg/api/index.ts';
import type { KubeObject } from '../pkg/api/index.ts';
import { createSharing } from './sharing.ts';

type Sample = KubeObject & { spec?: unknown };

function sample(name: string, owner: string, spec: unknown): Sample {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }];
  return { metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '', ownerReferences }, spec };
}

const rows: { name: string; first: unknown; second: unknown }[] = [
  { name: 'equal parts', first: { a: { b: [1, 2] }, c: 'x' }, second: { a: { b: [1, 2] }, c: 'y' } },
  { name: 'a field more', first: { a: { b: 1 } }, second: { a: { b: 1, c: 2 } } },
  { name: 'a field less', first: { a: { b: 1, c: 2 } }, second: { a: { b: 1 } } },
  { name: 'an item more', first: { a: [1] }, second: { a: [1, 2] } },
  { name: 'an item less', first: { a: [1, 2] }, second: { a: [1] } },
  { name: 'items in another order', first: { a: [{ n: 1 }, { n: 2 }] }, second: { a: [{ n: 2 }, { n: 1 }] } },
  { name: 'an array for an object', first: { a: {} }, second: { a: [] } },
  { name: 'null for an object', first: { a: {} }, second: { a: null } },
  { name: 'names of inherited properties', first: { a: { x: 1 } }, second: { a: { constructor: 1 } } },
  { name: 'numbers for strings', first: { a: '1' }, second: { a: 1 } },
];

describe('sharing', () => {
  for (const { name, first, second } of rows) {
    test(`changes no value, given ${name}`, () => {
      const share = createSharing<Sample>();
      const [one, two] = [sample('one', 'owner', first), sample('two', 'owner', second)];
      const before = [copyOf(one), copyOf(two)];
      expect([share(one), share(two)]).toEqual(before);
    });
  }

  test('lets children of one owner have their equal parts in common', () => {
    const share = createSharing<{ spec: { env: string[]; node: string } } & KubeObject>();
    const create = (name: string, owner: string) => ({
      ...sample(name, owner, {}),
      spec: { env: ['a', 'b'], node: name },
    });
    const [one, two, other] = [share(create('one', 'x')), share(create('two', 'x')), share(create('three', 'y'))];
    expect(two.spec.env).toBe(one.spec.env);
    expect(two.spec).not.toBe(one.spec);
    expect(other.spec.env).not.toBe(one.spec.env);
  });
});
