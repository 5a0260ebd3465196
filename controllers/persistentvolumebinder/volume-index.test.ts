import { describe, expect, test } from 'vitest';

import { keyOf, type PersistentVolume, type PersistentVolumeClaim } from '../../pkg/api/index.ts';
import { frozen, persistentVolume, persistentVolumeClaim, type Described } from '../../test/support/builders.ts';
import type { Claim, Volume } from '../../pkg/volumes/index.ts';
import { UnsupportedClassError, VolumeIndex } from './volume-index.ts';

const volume = (name: string, storage: string, { spec, ...described }: Described<PersistentVolume> = {}): Volume =>
  frozen(
    persistentVolume({ name, ...described, spec: { capacity: { storage }, storageClassName: 'manual', ...spec } }),
  );
const claimOf = (storage: string, spec: Partial<PersistentVolumeClaim['spec']> = {}): Claim =>
  frozen(
    persistentVolumeClaim({
      name: 'data',
      spec: { resources: { requests: { storage } }, storageClassName: 'manual', volumeMode: 'Filesystem', ...spec },
    }),
  );

function find(
  volumes: readonly Volume[],
  claim: Claim,
  { isDelayed = false, taken = [] as readonly string[], attributesClasses = true } = {},
): string | undefined {
  const index = new VolumeIndex({ attributesClasses });
  for (const each of volumes) index.set(keyOf(each), each);
  return index.find(claim, { isDelayed, isTaken: (key) => taken.includes(key) })?.metadata.name;
}

const many = { spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } };
const reserved = { spec: { claimRef: { namespace: 'default', name: 'data' } } };
const gold = { labels: { tier: 'gold', constructor: 'yes' } };

interface Row {
  readonly title: string;
  readonly volumes: readonly Volume[];
  readonly claim: Claim;
  readonly expected: string | undefined;
  readonly options?: Parameters<typeof find>[2];
}

describe('a claim finds', () => {
  test.each<Row>([
    {
      title: 'the smallest volume that is large enough',
      volumes: [volume('20', '20Gi'), volume('5', '5Gi'), volume('10', '10Gi')],
      claim: claimOf('6Gi'),
      expected: '10',
    },
    { title: 'a volume of the very size', volumes: [volume('5', '5Gi')], claim: claimOf('5120Mi'), expected: '5' },
    {
      title: 'no volume that is one byte too small, beyond what a number can hold',
      volumes: [volume('a', '9007199254740993')],
      claim: claimOf('9007199254740994'),
      expected: undefined,
    },
    {
      title: 'a volume that is larger by a byte, beyond what a number can hold',
      volumes: [volume('a', '9007199254740994'), volume('b', '9007199254740993')],
      claim: claimOf('9007199254740993'),
      expected: 'b',
    },
    {
      title: 'no volume of another class',
      volumes: [volume('a', '1Gi', { spec: { storageClassName: 'x' } })],
      claim: claimOf('1Gi'),
      expected: undefined,
    },
    {
      title: 'a volume by the older annotation of its class',
      volumes: [
        volume('a', '1Gi', {
          spec: { storageClassName: '' },
          annotations: { 'volume.beta.kubernetes.io/storage-class': 'manual' },
        }),
      ],
      claim: claimOf('1Gi'),
      expected: 'a',
    },
    {
      title: 'no volume of another mode',
      volumes: [volume('a', '1Gi', { spec: { volumeMode: 'Block' } })],
      claim: claimOf('1Gi'),
      expected: undefined,
    },
    {
      title: 'a volume of its attributes class',
      volumes: [volume('a', '1Gi'), volume('b', '1Gi', { spec: { volumeAttributesClassName: 'fast' } })],
      claim: claimOf('1Gi', { volumeAttributesClassName: 'fast' }),
      expected: 'b',
    },
    {
      title: 'no volume with an attributes class if these are off',
      volumes: [volume('a', '1Gi', { spec: { volumeAttributesClassName: 'fast' } })],
      claim: claimOf('1Gi'),
      options: { attributesClasses: false },
      expected: undefined,
    },
    {
      title: 'a volume with fewer access modes, even if it is larger',
      volumes: [volume('many', '1Gi', many), volume('one', '5Gi')],
      claim: claimOf('1Gi'),
      expected: 'one',
    },
    {
      title: 'a volume with more access modes',
      volumes: [volume('many', '1Gi', many)],
      claim: claimOf('1Gi', { accessModes: ['ReadOnlyMany'] }),
      expected: 'many',
    },
    {
      title: 'no volume that lacks an access mode',
      volumes: [volume('many', '1Gi', many)],
      claim: claimOf('1Gi', { accessModes: ['ReadOnlyMany', 'ReadWriteMany'] }),
      expected: undefined,
    },
    {
      title: 'no volume that is not available',
      volumes: [volume('a', '1Gi', { status: { phase: 'Pending' } })],
      claim: claimOf('1Gi'),
      expected: undefined,
    },
    {
      title: 'no volume that is being deleted',
      volumes: [volume('a', '1Gi', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
      claim: claimOf('1Gi'),
      expected: undefined,
    },
    {
      title: 'no volume of another claim',
      volumes: [volume('a', '1Gi', { spec: { claimRef: { namespace: 'default', name: 'other' } } })],
      claim: claimOf('1Gi'),
      expected: undefined,
    },
    {
      title: 'no volume that another claim is about to get',
      volumes: [volume('a', '1Gi'), volume('b', '1Gi')],
      claim: claimOf('1Gi'),
      options: { taken: ['a'] },
      expected: 'b',
    },
    {
      title: 'a reserved volume before a smaller one, in any class and phase',
      volumes: [
        volume('free', '1Gi'),
        volume('mine', '5Gi', { spec: { ...reserved.spec, storageClassName: 'x' }, status: { phase: 'Pending' } }),
      ],
      claim: claimOf('1Gi'),
      expected: 'mine',
    },
    {
      title: 'no reserved volume that is too small',
      volumes: [volume('mine', '1Gi', reserved)],
      claim: claimOf('2Gi'),
      expected: undefined,
    },
    {
      title: 'no volume that is bound to an earlier claim of its name',
      volumes: [volume('mine', '1Gi', { spec: { claimRef: { ...reserved.spec.claimRef, uid: 'earlier' } } })],
      claim: claimOf('1Gi'),
      expected: undefined,
    },
    {
      title: 'no reserved volume with more access modes, if a free one has fewer',
      volumes: [volume('free', '1Gi'), volume('mine', '1Gi', { spec: { ...many.spec, ...reserved.spec } })],
      claim: claimOf('1Gi'),
      expected: 'free',
    },
    {
      title: 'a reserved volume while it waits for a pod',
      volumes: [volume('free', '1Gi'), volume('mine', '1Gi', reserved)],
      claim: claimOf('1Gi'),
      options: { isDelayed: true },
      expected: 'mine',
    },
    {
      title: 'nothing else while it waits for a pod',
      volumes: [volume('free', '1Gi')],
      claim: claimOf('1Gi'),
      options: { isDelayed: true },
      expected: undefined,
    },
    {
      title: 'a volume with all labels of its selector',
      volumes: [volume('a', '1Gi', { labels: { tier: 'gold' } }), volume('b', '5Gi', gold), volume('c', '9Gi', gold)],
      claim: claimOf('1Gi', { selector: { matchLabels: { tier: 'gold', constructor: 'yes' } } }),
      expected: 'b',
    },
    {
      title: 'the smallest volume with one of several labels',
      volumes: [
        volume('a', '9Gi', { labels: { tier: 'a' } }),
        volume('b', '5Gi', { labels: { tier: 'b' } }),
        volume('c', '1Gi', { labels: { tier: 'c' } }),
      ],
      claim: claimOf('1Gi', { selector: { matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }] } }),
      expected: 'b',
    },
    {
      title: 'a volume without a label',
      volumes: [volume('a', '1Gi', gold), volume('b', '5Gi')],
      claim: claimOf('1Gi', { selector: { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] } }),
      expected: 'b',
    },
    {
      title: 'any volume with an empty selector',
      volumes: [volume('a', '1Gi', gold)],
      claim: claimOf('1Gi', { selector: {} }),
      expected: 'a',
    },
  ])('$title', ({ volumes, claim, options, expected }) => expect(find(volumes, claim, options)).toBe(expected));
});

test('an attributes class is refused if these are off', () => {
  const claim = claimOf('1Gi', { volumeAttributesClassName: 'fast' });
  expect(() => find([], claim, { attributesClasses: false })).toThrow(UnsupportedClassError);
});

test('volumes are found as they are now', () => {
  const index = new VolumeIndex({ attributesClasses: true });
  const search = { isDelayed: false, isTaken: () => false };
  const first = volume('a', '1Gi', gold);
  index.set(keyOf(first), first);
  const bound = volume('a', '1Gi', { spec: { claimRef: { namespace: 'default', name: 'other' } } });
  index.set(keyOf(first), bound);
  expect(index.find(claimOf('1Gi'), search)).toBeUndefined();
  expect([...index.volumesFor(keyOf({ metadata: { namespace: 'default', name: 'other' } }))]).toEqual(['a']);
  index.set(keyOf(first), first);
  expect(index.find(claimOf('1Gi'), search)).toBe(first);
  expect(index.volumesFor(keyOf({ metadata: { namespace: 'default', name: 'other' } })).size).toBe(0);
  index.set(keyOf(first), undefined);
  expect(index.find(claimOf('1Gi'), search)).toBeUndefined();
});

test('a search looks at one volume, however many there are', () => {
  const index = new VolumeIndex({ attributesClasses: true });
  for (let number = 0; number < 10_000; number++) {
    const each = volume(`v-${number}`, `${1 + (number % 100)}Gi`, { labels: { number: String(number) } });
    index.set(keyOf(each), each);
  }
  let asked = 0;
  const search = { isDelayed: false, isTaken: () => asked++ < 0 };
  expect(index.find(claimOf('50Gi'), search)?.metadata.name).toBe('v-49');
  expect(index.find(claimOf('1Gi', { selector: { matchLabels: { number: '77' } } }), search)?.metadata.name).toBe(
    'v-77',
  );
  expect(asked).toBe(2);
});

describe('with a selector, a search looks at few volumes', () => {
  const index = new VolumeIndex({ attributesClasses: true });
  for (let number = 0; number < 1000; number++) {
    const labels = { env: 'prod', number: String(number), half: String(number % 2) };
    const each = volume(`v-${number}`, '1Gi', { labels });
    index.set(keyOf(each), each);
  }
  const listed = (key: string, ...values: string[]) => ({ key, operator: 'In', values });
  test.each([
    {
      title: 'if its first label is common',
      selector: { matchLabels: { env: 'prod', number: '77' } },
      expected: 'v-77',
      looks: 1,
    },
    {
      title: 'if its first label is rare',
      selector: { matchLabels: { number: '77', env: 'prod' } },
      expected: 'v-77',
      looks: 1,
    },
    {
      title: 'if an expression is rarer than its labels',
      selector: { matchLabels: { env: 'prod' }, matchExpressions: [listed('half', '1'), listed('number', '76', '77')] },
      expected: 'v-77',
      looks: 2,
    },
    {
      title: 'if no volume has one of its labels',
      selector: { matchLabels: { env: 'prod', number: '1000' } },
      expected: undefined,
      looks: 0,
    },
    {
      title: 'if no volume has a value of an expression',
      selector: { matchLabels: { env: 'prod' }, matchExpressions: [listed('number', '1000')] },
      expected: undefined,
      looks: 0,
    },
  ])('$title', ({ selector, expected, looks }) => {
    let asked = 0;
    const search = { isDelayed: false, isTaken: () => asked++ < 0 };
    expect(index.find(claimOf('1Gi', { selector }), search)?.metadata.name).toBe(expected);
    expect(asked).toBe(looks);
  });
});
