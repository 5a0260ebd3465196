import { describe, expect, test } from 'vitest';

import { parseExternalValues, parseObjectValue, parsePodUsage, parsePodValues } from './metrics-api.ts';
import { chooseVersion } from './metrics-version.ts';

const timestamp = '2026-06-01T00:00:00Z';
const timestampMs = Date.parse(timestamp);
const podItem = (name: string, ...containers: object[]): object => ({
  metadata: { name },
  timestamp,
  window: '30s',
  containers,
});
const used = (name: string, usage: object): object => ({ name, usage });

describe('parsePodUsage', () => {
  const rows: { name: string; items: unknown; container?: string; expected: Record<string, bigint> | string }[] = [
    {
      name: 'sums the containers of each pod',
      items: [podItem('a', used('x', { cpu: '10m' }), used('y', { cpu: '0.1' })), podItem('b', used('x', { cpu: 1 }))],
      expected: { a: 110n, b: 1000n },
    },
    {
      name: 'takes one container',
      items: [
        podItem('a', used('x', { cpu: '10m' }), used('y', { cpu: '20m' })),
        podItem('b', used('x', { cpu: '1' })),
      ],
      container: 'y',
      expected: { a: 20n },
    },
    {
      name: 'leaves out a pod of which a container has no usage',
      items: [podItem('a', used('x', { cpu: '10m' }), used('y', { memory: '1' })), podItem('b')],
      expected: {},
    },
    { name: 'refuses an empty list', items: [], expected: 'no metrics returned from resource metrics API' },
    { name: 'refuses null', items: null, expected: 'no metrics returned from resource metrics API' },
    {
      name: 'refuses what is not a quantity',
      items: [podItem('a', used('x', { cpu: 'much' }))],
      expected: 'the answer cannot be read: items.0.containers.0.usage.cpu: "much" is not a quantity',
    },
    {
      name: 'refuses all items if one of them cannot be read',
      items: [podItem('a', used('x', { cpu: '1' })), podItem('b', used('x', { cpu: 'much' }))],
      expected: 'the answer cannot be read: items.1.containers.0.usage.cpu: "much" is not a quantity',
    },
    {
      name: 'refuses what is not a list of metrics',
      items: 'lies',
      expected: 'the answer cannot be read: items: Invalid input: expected array, received string',
    },
  ];
  for (const { name, items, container, expected } of rows) {
    test(name, () => {
      const shown = shownOf(() => {
        const parsed = parsePodUsage({ items }, 'cpu', container);
        return Object.fromEntries([...parsed].map(([pod, { value }]) => [pod, value]));
      });
      expect(shown).toEqual(expected);
    });
  }

  test('keeps time and window', () => {
    const parsed = parsePodUsage({ items: [podItem('a', used('x', { cpu: '1' }))] }, 'cpu', undefined);
    expect(parsed.get('a')).toEqual({ timestampMs, windowMs: 30_000, value: 1000n });
  });
});

describe('custom and external metrics', () => {
  const item = (name: string, value: string, more: object = {}): object => ({
    describedObject: { kind: 'Pod', name },
    timestamp,
    value,
    ...more,
  });

  test('a window has its own name in each version', () => {
    const items = [item('a', '1', { windowSeconds: 10 }), item('b', '2', { window: 20 }), item('c', '3')];
    const windows = [...parsePodValues({ items }).values()].map(({ windowMs }) => windowMs);
    expect(windows).toEqual([10_000, 20_000, 60_000]);
  });

  test('one object has one value', () => {
    expect(parseObjectValue({ items: [item('main', '1500m')] })).toBe(1500n);
    const two = { items: [item('a', '1'), item('b', '1')] };
    expect(() => parseObjectValue(two)).toThrow('returned 2 results when we asked for exactly one');
    expect(() => parseObjectValue({})).toThrow('returned 0 results when we asked for exactly one');
  });

  test('an external metric has any number of values', () => {
    expect(parseExternalValues({ items: [{ value: '1' }, { value: '2k' }] })).toEqual([1000n, 2_000_000n]);
    expect(() => parseExternalValues({ items: [] })).toThrow('no metrics returned from external metrics API');
    expect(() => parseExternalValues('<html>')).toThrow('the answer cannot be read');
  });
});

describe('chooseVersion', () => {
  const versions = (...names: string[]) => names.map((name) => ({ groupVersion: `custom.metrics.k8s.io/${name}` }));
  const rows: [name: string, group: object | undefined, expected: string][] = [
    [
      'takes the preferred version',
      { preferredVersion: versions('v1beta1')[0], versions: versions('v1beta2', 'v1beta1') },
      'custom.metrics.k8s.io/v1beta1',
    ],
    [
      'takes the first known one otherwise',
      { preferredVersion: versions('v2')[0], versions: versions('v2', 'v1beta2', 'v1beta1') },
      'custom.metrics.k8s.io/v1beta2',
    ],
    ['needs a known one', { versions: versions('v2') }, 'no known available metric versions found'],
    ['needs the API', undefined, 'no custom metrics API (custom.metrics.k8s.io) registered'],
  ];
  test.each(rows)('%s', (_name, group, expected) => {
    const groups = [{ name: 'apps' }, ...(group === undefined ? [] : [{ name: 'custom.metrics.k8s.io', ...group }])];
    expect(shownOf(() => chooseVersion({ groups }))).toBe(expected);
  });
});

function shownOf<T>(compute: () => T): T | string {
  try {
    return compute();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
