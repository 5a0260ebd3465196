import { describe, expect, test } from 'vitest';

import { validateReplicas } from './replicas.ts';
import { prune } from './structural.ts';

describe('prune', () => {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
  };

  test('drops fields that the schema does not have, and reports them', () => {
    const { object, unknown } = prune({ kind: 'A', spec: { size: 1, colour: 'red' } }, schema);
    expect(object).toMatchObject({ kind: 'A', spec: { size: 1 } });
    expect(unknown).toEqual(['spec.colour']);
  });

  test('treats null as absent', () => {
    const { object, unknown } = prune({ spec: { size: undefined }, status: undefined }, schema);
    expect(object).not.toHaveProperty('status');
    expect(object['spec']).not.toHaveProperty('size');
    expect(unknown).toEqual([]);
  });
});

describe('validateReplicas', () => {
  const rows = [
    { name: 'a whole number', value: 3, expected: [] },
    { name: 'none at all', value: undefined, expected: [] },
    { name: 'fewer than none', value: -1, expected: ['should be a non-negative integer'] },
    {
      name: 'a word',
      value: 'many',
      expected: ['.spec.replicas accessor error: many is of the type string, expected int64'],
    },
  ];
  for (const { name, value, expected } of rows) {
    test(`has ${expected.length === 0 ? 'nothing' : 'something'} to say of ${name}`, () => {
      const errors = validateReplicas({ spec: { replicas: value } }, '.spec.replicas');
      expect(errors.map(({ detail }) => detail)).toEqual(expected);
    });
  }
});
