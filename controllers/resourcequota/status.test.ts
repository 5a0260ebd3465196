import { describe, expect, test } from 'vitest';

import { ResourceQuotas, type ResourceQuota } from '../../pkg/api/index.ts';
import { usageOf } from '../../pkg/quota/index.ts';
import { build } from '../../test/support/builders.ts';
import { lacksUsage, planStatus } from './status.ts';

type Amounts = Record<string, string>;
interface Lists {
  readonly hard?: Amounts;
  readonly statusHard?: Amounts;
  readonly used?: Amounts;
}

const quota = ({ hard, statusHard, used }: Lists): ResourceQuota =>
  build(ResourceQuotas, {}, { spec: { hard }, status: { hard: statusHard, used } });

const plans: readonly (Lists & { name: string; known: Amounts; expected: object | undefined })[] = [
  {
    name: 'a new quota gets limits and usage',
    hard: { pods: '5', 'count/unknown.example.com': '1' },
    known: { pods: '2' },
    expected: { hard: { pods: '5', 'count/unknown.example.com': '1' }, used: { pods: '2' } },
  },
  {
    name: 'the same values in another notation are no change',
    hard: { memory: '1Gi' },
    statusHard: { memory: '1024Mi' },
    used: { memory: '1000' },
    known: { memory: '1k' },
    expected: undefined,
  },
  {
    name: 'usage that is not known stays',
    hard: { pods: '5', secrets: '5' },
    statusHard: { pods: '5', secrets: '5' },
    used: { pods: '1', secrets: '3' },
    known: { pods: '0' },
    expected: { hard: { pods: '5', secrets: '5' }, used: { pods: '0', secrets: '3' } },
  },
  {
    name: 'usage without a limit goes',
    hard: { constructor: '1' },
    statusHard: { pods: '5' },
    used: { pods: '1' },
    known: {},
    expected: { hard: { constructor: '1' }, used: {} },
  },
  { name: 'a quota without limits needs no status', known: {}, expected: undefined },
];

describe('planStatus', () => {
  for (const { name, known, expected, ...lists } of plans) {
    test(name, () => expect(planStatus(quota(lists), usageOf(known))).toEqual(expected));
  }
});

const units = (amounts: Record<string, number>) =>
  new Map(Object.entries(amounts).map(([name, value]) => [name, BigInt(value) * 10n ** 9n]));
const decreases: readonly {
  name: string;
  used: string;
  known: string;
  freed?: Record<string, number>;
  charged?: Record<string, number>;
  expected: string | undefined;
}[] = [
  { name: 'stays while an object may be unobserved', used: '5', known: '2', expected: undefined },
  { name: 'falls by what has become free', used: '5', known: '2', freed: { pods: 1 }, expected: '4' },
  { name: 'falls to the usage, however much was freed', used: '5', known: '4', freed: { pods: 3 }, expected: '4' },
  { name: 'falls to the usage if nothing can be unobserved', used: '5', known: '2', charged: {}, expected: '2' },
  { name: 'keeps what was charged lately', used: '5', known: '2', charged: { pods: 2 }, expected: '4' },
  { name: 'never rises with that', used: '5', known: '4', charged: { pods: 9 }, expected: undefined },
  {
    name: 'falls by the larger of both',
    used: '9',
    known: '2',
    freed: { pods: 3 },
    charged: { pods: 2 },
    expected: '4',
  },
  { name: 'rises at once', used: '5', known: '6', expected: '6' },
];

describe('a value of the status', () => {
  for (const { name, used, known, freed, charged, expected } of decreases) {
    test(name, () => {
      const given = quota({ hard: { pods: '50' }, statusHard: { pods: '50' }, used: { pods: used } });
      const allowance = { freed: units(freed ?? {}), charged: charged && units(charged) };
      expect(planStatus(given, usageOf({ pods: known }), allowance)?.used['pods']).toBe(expected);
    });
  }
});

const orders: readonly (Lists & { name: string; expected: boolean })[] = [
  { name: 'a new quota comes first', hard: { pods: '1' }, expected: true },
  {
    name: 'a quota with another limit comes first',
    hard: { pods: '2' },
    statusHard: { pods: '1' },
    used: { pods: '0' },
    expected: true,
  },
  { name: 'a limit without usage comes first', hard: { pods: '1' }, statusHard: { pods: '1' }, expected: true },
  {
    name: 'a limit whose usage nobody computes does not',
    hard: { unknown: '1' },
    statusHard: { unknown: '1' },
    expected: false,
  },
  {
    name: 'a quota with usage does not',
    hard: { pods: '1' },
    statusHard: { pods: '1000m' },
    used: { pods: '0' },
    expected: false,
  },
];

describe('lacksUsage', () => {
  for (const { name, expected, ...lists } of orders) {
    test(name, () => expect(lacksUsage(quota(lists), (each) => each !== 'unknown')).toBe(expected));
  }
});
