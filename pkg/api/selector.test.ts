import { describe, expect, test } from 'vitest';

import type { LabelSelector } from './objects.ts';
import { compileSelector, formatSelector, InvalidSelectorError, isEmptySelector, selectorFromSet } from './selector.ts';

const web = { app: 'web', tier: 'front' };

/** A selector with values that the types do not allow but JSON does. */
const fromJson = (text: string): LabelSelector => JSON.parse(text) as LabelSelector;

describe('compileSelector', () => {
  const rows: readonly { readonly name: string; readonly selector: LabelSelector; readonly matches: boolean }[] = [
    { name: 'an empty selector matches', selector: {}, matches: true },
    { name: 'empty lists match', selector: { matchLabels: {}, matchExpressions: [] }, matches: true },
    {
      name: 'null counts as absent',
      selector: fromJson('{"matchLabels":null,"matchExpressions":null}'),
      matches: true,
    },
    { name: 'one label matches', selector: { matchLabels: { app: 'web' } }, matches: true },
    { name: 'all labels match', selector: { matchLabels: web }, matches: true },
    { name: 'one label of two differs', selector: { matchLabels: { app: 'web', tier: 'back' } }, matches: false },
    { name: 'a label is missing', selector: { matchLabels: { zone: 'a' } }, matches: false },
    { name: 'a label is missing, with an empty value', selector: { matchLabels: { zone: '' } }, matches: false },
    { name: 'In with the value', selector: expression('app', 'In', ['db', 'web']), matches: true },
    { name: 'In without the value', selector: expression('app', 'In', ['db']), matches: false },
    { name: 'In on a missing label', selector: expression('zone', 'In', ['']), matches: false },
    { name: 'NotIn with the value', selector: expression('app', 'NotIn', ['web']), matches: false },
    { name: 'NotIn without the value', selector: expression('app', 'NotIn', ['db']), matches: true },
    { name: 'NotIn on a missing label', selector: expression('zone', 'NotIn', ['a']), matches: true },
    { name: 'Exists on a label', selector: expression('app', 'Exists'), matches: true },
    { name: 'Exists on a missing label', selector: expression('zone', 'Exists'), matches: false },
    { name: 'DoesNotExist on a label', selector: expression('app', 'DoesNotExist'), matches: false },
    { name: 'DoesNotExist on a missing label', selector: expression('zone', 'DoesNotExist'), matches: true },
    {
      name: 'Exists with null for its values',
      selector: fromJson('{"matchExpressions":[{"key":"app","operator":"Exists","values":null}]}'),
      matches: true,
    },
    {
      name: 'labels match, an expression does not',
      selector: { matchLabels: { app: 'web' }, ...expression('tier', 'DoesNotExist') },
      matches: false,
    },
  ];
  for (const { name, selector, matches } of rows) {
    test(`${name}: ${matches}`, () => expect(compileSelector(selector)(web)).toBe(matches));
  }

  test('an absent selector matches no object', () => {
    const selector = compileSelector(undefined);
    expect([selector(web), selector({}), selector(undefined)]).toEqual([false, false, false]);
  });

  test('absent labels match like empty ones', () => {
    expect(compileSelector({})(undefined)).toBe(true);
    expect(compileSelector(expression('app', 'Exists'))(undefined)).toBe(false);
    expect(compileSelector(expression('app', 'DoesNotExist'))(undefined)).toBe(true);
  });

  const invalid = [
    { name: 'In without values', selector: expression('app', 'In') },
    { name: 'NotIn with an empty list', selector: expression('app', 'NotIn', []) },
    { name: 'Exists with a value', selector: expression('app', 'Exists', ['web']) },
    { name: 'DoesNotExist with a value', selector: expression('app', 'DoesNotExist', ['web']) },
    { name: 'an unknown operator', selector: expression('app', 'Gt', ['1']) },
    { name: 'an operator in lower case', selector: expression('app', 'exists') },
    { name: 'an inherited name as operator', selector: expression('app', 'constructor') },
  ];
  for (const { name, selector } of invalid) {
    test(`${name} is invalid`, () => expect(() => compileSelector(selector)).toThrow(InvalidSelectorError));
  }
});

describe('selectorFromSet', () => {
  test('an empty set matches every object', () => {
    expect([selectorFromSet({})(web), selectorFromSet({})(undefined)]).toEqual([true, true]);
  });

  test('a set with an empty value does not match a missing label', () => {
    expect([selectorFromSet({ zone: '' })(web), selectorFromSet({ zone: '' })({ zone: '' })]).toEqual([false, true]);
  });
});

describe('isEmptySelector', () => {
  const rows = [
    { selector: undefined, expected: false },
    { selector: {}, expected: true },
    { selector: { matchLabels: {}, matchExpressions: [] }, expected: true },
    { selector: fromJson('{"matchLabels":null,"matchExpressions":null}'), expected: true },
    { selector: { matchLabels: { app: 'web' } }, expected: false },
    { selector: expression('app', 'Exists'), expected: false },
  ];
  for (const { selector, expected } of rows) {
    test(`is ${expected} for ${JSON.stringify(selector)}`, () => expect(isEmptySelector(selector)).toBe(expected));
  }
});

describe('formatSelector', () => {
  const rows = [
    { selector: {}, expected: '' },
    { selector: { matchLabels: web }, expected: 'app=web,tier=front' },
    { selector: expression('app', 'In', ['web', 'db']), expected: 'app in (web,db)' },
    { selector: expression('app', 'NotIn', ['web']), expected: 'app notin (web)' },
    { selector: expression('app', 'Exists'), expected: 'app' },
    { selector: expression('app', 'DoesNotExist'), expected: '!app' },
    { selector: { matchLabels: { a: '' }, ...expression('b', 'Exists') }, expected: 'a=,b' },
  ];
  for (const { selector, expected } of rows) {
    test(`writes ${JSON.stringify(selector)}`, () => expect(formatSelector(selector)).toBe(expected));
  }
});

function expression(key: string, operator: string, values?: string[]): LabelSelector {
  return { matchExpressions: [{ key, operator, values }] };
}
