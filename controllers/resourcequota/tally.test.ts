import { describe, expect, test } from 'vitest';

import { keyOf, objectKey } from '../../pkg/api/index.ts';
import { formatAmount } from '../../pkg/quantities/index.ts';
import { createPodEvaluator, type Evaluator } from '../../pkg/quota/index.ts';
import { container, pod } from '../../test/support/builders.ts';
import { seededRandom } from '../../test/support/random.ts';
import { Tally } from './tally.ts';

const evaluator: Evaluator = createPodEvaluator({ podLevel: true, nowMs: () => 0 });
const names = new Set(['pods', 'requests.memory', 'count/pods']);
const podOf = (name: string, memory: string, phase = 'Running') =>
  pod({ name, spec: { containers: [container({ resources: { requests: { memory } } })] }, status: { phase } });
const sumsOf = (tally: Tally): Record<string, string> =>
  Object.fromEntries([...tally.sums].map(([name, sum]) => [name, formatAmount(sum)]));

describe('a tally', () => {
  test('follows the changes of one object', () => {
    const tally = new Tally(evaluator, { names, counted: names, scopes: [] });
    const charge = (object: Parameters<Tally['charge']>[1]) => tally.charge(objectKey('default', 'a'), object).kind;
    expect(charge(podOf('a', '1Gi'))).toBe('increase');
    expect(charge(podOf('a', '1Gi'))).toBe('none');
    expect(sumsOf(tally)).toEqual({ pods: '1', 'requests.memory': '1Gi', 'count/pods': '1' });
    expect(charge(podOf('a', '2Gi'))).toBe('increase');
    expect(charge(podOf('a', '2Gi', 'Succeeded'))).toBe('decrease');
    expect(sumsOf(tally)).toEqual({ pods: '0', 'requests.memory': '0', 'count/pods': '1' });
    expect(charge(undefined)).toBe('decrease');
    expect(charge(undefined)).toBe('none');
    expect([...tally.keys]).toEqual([]);
  });

  test('tells what has become free', () => {
    const tally = new Tally(evaluator, { names, counted: names, scopes: [] });
    const key = objectKey('default', 'a');
    tally.charge(key, podOf('a', '2Gi'));
    expect(tally.charge(key, podOf('a', '1Gi'))).toEqual({
      kind: 'decrease',
      freed: new Map([['requests.memory', 2n ** 30n * 10n ** 9n]]),
    });
    expect(tally.charge(key, podOf('a', '1Gi', 'Failed'))).toMatchObject({
      freed: new Map([
        ['pods', 10n ** 9n],
        ['requests.memory', 2n ** 30n * 10n ** 9n],
      ]),
    });
  });

  test('charges only what matches all scopes', () => {
    const scopes = ['Terminating', 'NotBestEffort'].map((scopeName) => ({ scopeName, operator: 'Exists' }));
    const tally = new Tally(evaluator, { names, counted: names, scopes });
    const plain = podOf('a', '1Gi');
    expect(tally.charge(keyOf(plain), plain).kind).toBe('none');
    const ending = { ...plain, spec: { ...plain.spec, activeDeadlineSeconds: 5 } };
    expect(tally.charge(keyOf(plain), ending).kind).toBe('increase');
    expect(tally.charge(keyOf(plain), plain).kind).toBe('decrease');
  });

  test('writes sums of binary amounts as such, whatever was charged in between', () => {
    const tally = new Tally(evaluator, { names, counted: names, scopes: [] });
    for (const [name, memory] of Object.entries({ a: '1e9', b: '512Mi', c: '512Mi' })) {
      tally.charge(objectKey('default', name), podOf(name, memory));
    }
    expect(sumsOf(tally)['requests.memory']).toBe('2073741824');
    tally.charge(objectKey('default', 'a'), undefined);
    expect(sumsOf(tally)['requests.memory']).toBe('1Gi');
  });

  test('equals a full count after any changes', () => {
    const random = seededRandom(7);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    const tally = new Tally(evaluator, { names, counted: names, scopes: [] });
    const present = new Map<string, ReturnType<typeof podOf>>();
    for (let step = 0; step < 2000; step++) {
      const name = `pod-${Math.floor(random() * 20)}`;
      if (random() < 0.3) present.delete(name);
      else
        present.set(name, podOf(name, pick(['1Gi', '1e3', '1500m', '0', '100n', '1G']), pick(['Running', 'Failed'])));
      tally.charge(objectKey('default', name), present.get(name));
    }
    const fresh = new Tally(evaluator, { names, counted: names, scopes: [] });
    for (const [name, object] of present) fresh.charge(objectKey('default', name), object);
    expect(sumsOf(tally)).toEqual(sumsOf(fresh));
  });
});
