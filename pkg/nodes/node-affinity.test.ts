import { describe, expect, test } from 'vitest';

import type { PodSpec } from '../api/index.ts';
import { node, pod } from '../../test/support/builders.ts';
import { compileNodeAffinity, compileNodeSelector, targetNodeOf } from './node-affinity.ts';

const large = node({ name: 'large', labels: { zone: 'a', cores: '16', constructorless: 'x' } });

function required(...nodeSelectorTerms: object[]): Pick<PodSpec, 'affinity'> {
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  };
}
const expression = (key: string, operator: string, ...values: string[]): object => ({
  matchExpressions: [{ key, operator, values }],
});

describe('compileNodeAffinity', () => {
  const rows: { name: string; spec: Partial<PodSpec>; expected: boolean }[] = [
    { name: 'any node without demands', spec: {}, expected: true },
    { name: 'a node with the labels', spec: { nodeSelector: { zone: 'a' } }, expected: true },
    { name: 'no node with other labels', spec: { nodeSelector: { zone: 'b' } }, expected: false },
    {
      name: 'no node by a label that every object inherits',
      spec: { nodeSelector: { constructor: '' } },
      expected: false,
    },
    { name: 'a listed value', spec: required(expression('zone', 'In', 'a', 'b')), expected: true },
    { name: 'no excluded value', spec: required(expression('zone', 'NotIn', 'a')), expected: false },
    { name: 'a larger number', spec: required(expression('cores', 'Gt', '8')), expected: true },
    { name: 'not an equal number', spec: required(expression('cores', 'Gt', '16')), expected: false },
    { name: 'a smaller number', spec: required(expression('cores', 'Lt', '17')), expected: true },
    { name: 'no match if the label is not a number', spec: required(expression('zone', 'Lt', '17')), expected: false },
    { name: 'no number without a label', spec: required(expression('memory', 'Gt', '1')), expected: false },
    {
      name: 'no match if the bound is not a number',
      spec: required(expression('cores', 'Gt', 'many')),
      expected: false,
    },
    {
      name: 'a node by its name',
      spec: required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['large'] }] }),
      expected: true,
    },
    {
      name: 'any of several terms',
      spec: required(expression('zone', 'In', 'b'), expression('zone', 'In', 'a')),
      expected: true,
    },
    { name: 'no node by an empty term', spec: required({}), expected: false },
    { name: 'no node without terms', spec: required(), expected: false },
    { name: 'no node by an unknown operator', spec: required(expression('zone', 'Like', 'a')), expected: false },
    {
      name: 'both the selector and the affinity',
      spec: { nodeSelector: { zone: 'b' }, ...required(expression('zone', 'In', 'a')) },
      expected: false,
    },
  ];
  for (const { name, spec, expected } of rows) {
    test(`${expected ? 'selects' : 'does not select'}: ${name}`, () => {
      expect(compileNodeAffinity({ containers: [], ...spec })(large)).toBe(expected);
    });
  }
});

test('a selector without terms, or with null in their place, selects no node', () => {
  expect([compileNodeSelector(undefined)(large), compileNodeSelector(null)(large)]).toEqual([false, false]);
});

describe('targetNodeOf', () => {
  const byName = (...values: string[]): object => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] });
  const rows: { name: string; spec: Partial<PodSpec>; expected: string | undefined }[] = [
    { name: 'the node that the pod is bound to', spec: { nodeName: 'a', ...required(byName('b')) }, expected: 'a' },
    { name: 'the node that the affinity names', spec: required(byName('b')), expected: 'b' },
    { name: 'no node without affinity', spec: {}, expected: undefined },
    { name: 'no node by labels', spec: required(expression('zone', 'In', 'a')), expected: undefined },
    { name: 'no node of several', spec: required(byName('a', 'b')), expected: undefined },
  ];
  for (const { name, spec, expected } of rows) {
    test(name, () => expect(targetNodeOf(pod({ spec: { containers: [], ...spec } }))).toBe(expected));
  }
});
