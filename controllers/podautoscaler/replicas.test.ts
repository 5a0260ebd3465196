import { describe, expect, test } from 'vitest';

import type { Cached, Pod } from '../../pkg/api/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import type { PodMetric } from './metric-reading.ts';
import {
  isWithin,
  replicasForAverage,
  replicasForExternalShare,
  replicasForRatio,
  replicasForShare,
  replicasForUtilization,
  sumExternal,
} from './replicas.ts';

const tolerances = { scaleDown: 0.1, scaleUp: 0.1 };
const readiness = { cpuInitializationMs: 0, initialReadinessDelayMs: 0, nowMs: Date.parse('2026-06-01T00:00:00Z') };
const since = '2026-01-01T00:00:00Z';

function podOf(name: string, phase = 'Running', ready = 'True'): Cached<Pod> {
  const conditions = [{ type: 'Ready', status: ready, lastTransitionTime: since }];
  return frozen(pod({ name, status: { phase, startTime: since, conditions } }));
}

interface Row {
  readonly name: string;
  /** Of running pods, in order; undefined: no metric. */
  readonly values: readonly (bigint | undefined)[];
  readonly pending?: number;
  readonly current: number;
  readonly target: number;
  readonly expected: number | string;
}

function usageOf({ values, pending = 0, current }: Row) {
  const running = values.map((_, index) => podOf(`p${index}`));
  const waiting = Array.from({ length: pending }, (_, index) => podOf(`w${index}`, 'Pending'));
  const metrics = new Map(
    values.flatMap((value, index) =>
      value === undefined ? [] : [[`p${index}`, { timestampMs: 0, windowMs: 0, value }] as const],
    ),
  );
  return { currentReplicas: current, tolerances, pods: [...running, ...waiting], metrics, readiness };
}

function outcome(compute: () => number): number | string {
  try {
    return compute();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const utilizationRows: readonly Row[] = [
  { name: 'rises with usage', values: [100n, 100n], current: 2, target: 50, expected: 4 },
  { name: 'falls with usage', values: [25n, 25n, 25n, 25n], current: 4, target: 50, expected: 2 },
  { name: 'stays within the tolerance', values: [55n, 55n], current: 2, target: 50, expected: 2 },
  { name: 'keeps the present replicas, whatever the pods', values: [50n], current: 7, target: 50, expected: 7 },
  { name: 'rounds up', values: [51n, 60n], current: 2, target: 49, expected: 3 },
  {
    name: 'counts missing pods as idle above the target',
    values: [200n, undefined],
    current: 2,
    target: 50,
    expected: 4,
  },
  {
    name: 'counts missing pods as busy below the target',
    values: [10n, 10n, undefined],
    current: 3,
    target: 50,
    expected: 3,
  },
  {
    name: 'counts them as the target if that is above 100%',
    values: [10n, 10n, undefined],
    current: 3,
    target: 150,
    expected: 2,
  },
  {
    name: 'never turns around because of missing pods',
    values: [60n, undefined, undefined],
    current: 3,
    target: 50,
    expected: 3,
  },
  {
    name: 'counts pending pods as idle above the target',
    values: [300n],
    pending: 2,
    current: 3,
    target: 50,
    expected: 6,
  },
  { name: 'ignores pending pods below the target', values: [10n], pending: 3, current: 4, target: 50, expected: 1 },
  {
    name: 'needs a metric',
    values: [undefined],
    current: 1,
    target: 50,
    expected: 'did not receive metrics for targeted pods (pods might be unready)',
  },
  {
    name: 'needs a pod',
    values: [],
    current: 1,
    target: 50,
    expected: 'no pods returned by selector while calculating replica count',
  },
];

describe('replicasForUtilization, of pods that request 100', () => {
  for (const row of utilizationRows) {
    test(row.name, () => {
      const usage = usageOf(row);
      const requests = new Map(usage.pods.map(({ metadata }) => [metadata.name, 100n]));
      expect(outcome(() => replicasForUtilization(usage, 'cpu', row.target, () => requests).replicas)).toBe(
        row.expected,
      );
    });
  }

  test('reports percent and average, without pods that are not the target’s', () => {
    const usage = usageOf({ name: '', values: [30n, 41n], current: 2, target: 50, expected: 0 });
    const metrics = new Map<string, PodMetric>(usage.metrics).set('other', {
      timestampMs: 0,
      windowMs: 0,
      value: 1000n,
    });
    const requests = new Map(['p0', 'p1'].map((name) => [name, 100n]));
    const { utilization, average } = replicasForUtilization({ ...usage, metrics }, 'cpu', 50, () => requests);
    expect([utilization, average]).toEqual([35, 35n]);
  });

  test('refuses pods that request nothing', () => {
    const usage = usageOf({ name: '', values: [1n], current: 1, target: 50, expected: 0 });
    expect(() => replicasForUtilization(usage, 'cpu', 50, () => new Map([['p0', 0n]]))).toThrow(
      'no metrics returned matched known pods',
    );
  });

  test('wraps around like int64 and int32', () => {
    const usage = usageOf({ name: '', values: [2n ** 62n], current: 1, target: 50, expected: 0 });
    const { utilization } = replicasForUtilization(usage, 'cpu', 50, () => new Map([['p0', 1n]]));
    expect(utilization).toBe(0); // 2^62 × 100 is a multiple of 2^64
  });
});

const averageRows: readonly Row[] = [
  { name: 'rises with usage', values: [20n, 20n], current: 2, target: 10, expected: 4 },
  { name: 'stays within the tolerance', values: [11n, 11n], current: 5, target: 10, expected: 5 },
  { name: 'counts missing pods as on target below it', values: [2n, undefined], current: 2, target: 10, expected: 2 },
  { name: 'still falls if most pods are idle', values: [0n, 0n, 0n, undefined], current: 4, target: 10, expected: 1 },
  {
    name: 'never adds replicas for more metrics than replicas',
    values: [5n, 5n, undefined],
    current: 1,
    target: 10,
    expected: 1,
  },
  { name: 'handles what overflows a sum', values: [2n ** 62n, 2n ** 62n], current: 2, target: 10, expected: 0 },
];

describe('replicasForAverage', () => {
  for (const row of averageRows) {
    test(row.name, () => {
      const compute = () => replicasForAverage(usageOf(row), undefined, BigInt(row.target)).replicas;
      expect(outcome(compute)).toBe(row.expected === 0 ? -(2 ** 31) : row.expected);
    });
  }
});

describe('replicasForRatio', () => {
  const pods = [podOf('a'), podOf('b'), podOf('c', 'Running', 'False'), podOf('d', 'Pending')];
  const rows: [
    name: string,
    current: number,
    ratio: number,
    given: readonly Cached<Pod>[],
    expected: number | string,
  ][] = [
    ['multiplies the ready pods', 4, 1.5, pods, 3],
    ['stays within the tolerance', 4, 1.1, [], 4],
    ['starts from zero by the ratio alone', 0, 2.1, [], 3],
    ['stays at zero', 0, 0, [], 0],
    ['has a largest number', 4, 1e12, pods, 2 ** 31 - 1],
    [
      'needs pods',
      4,
      2,
      [],
      'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    ],
  ];
  test.each(rows)('%s', (_name, current, ratio, given, expected) => {
    expect(outcome(() => replicasForRatio(current, ratio, tolerances, given))).toBe(expected);
  });
});

describe('replicasForShare and replicasForExternalShare', () => {
  const huge = 2n ** 63n - 1n;
  const rows: [usage: bigint, statusReplicas: number, shared: [number, bigint], external: [number, bigint]][] = [
    [400n, 4, [4, 100n], [4, 100n]],
    [430n, 4, [4, 108n], [4, 108n]],
    [999n, 4, [10, 250n], [10, 250n]],
    [0n, 4, [0, 0n], [0, 0n]],
    [400n, 0, [4, -(2n ** 63n)], [4, -(2n ** 63n)]],
    [huge, 4, [-(2 ** 31), 2n ** 61n], [2 ** 31 - 1, huge]],
  ];
  test.each(rows)('%s of %s replicas', (usage, statusReplicas, shared, external) => {
    const input = { usage, target: 100n, statusReplicas, tolerances };
    expect(Object.values(replicasForShare(input))).toEqual(shared);
    expect(Object.values(replicasForExternalShare(input))).toEqual(external);
  });
});

describe('sumExternal', () => {
  const huge = 2n ** 63n - 1n;
  const rows: [values: bigint[], value: bigint, average: bigint][] = [
    [[1n, 2n], 3n, 3n],
    [[huge, 1n], huge, huge],
    [[-5n, 2n], -3n, huge],
  ];
  test.each(rows)('%s', (values, value, average) => {
    expect(sumExternal(values, 'value')).toBe(value);
    expect(sumExternal(values, 'average')).toBe(average);
  });
});

test('tolerances include their limits', () => {
  const ratios = [0.89, 0.9, 1.1, 1.11, Number.NaN];
  expect(ratios.map((ratio) => isWithin(tolerances, ratio))).toEqual([false, true, true, false, false]);
});
