import { describe, expect, test } from 'vitest';

import { copyOf } from './cached.ts';
import { isEqualJson } from './equal.ts';
import { ownValue } from './own.ts';
import { compileSelector, selectorFromSet } from './selector.ts';

const inherited = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];

describe('a name that every object inherits', () => {
  for (const name of inherited) {
    const labelled = JSON.parse(`{"${name}":"x"}`) as Record<string, string>;

    test(`${name} is absent unless it is set`, () => {
      expect(ownValue({}, name)).toBeUndefined();
      expect(ownValue(labelled, name)).toBe('x');
    });

    const operators = [
      { operator: 'Exists', values: [], without: false, withIt: true },
      { operator: 'DoesNotExist', values: [], without: true, withIt: false },
      { operator: 'In', values: ['x'], without: false, withIt: true },
      { operator: 'NotIn', values: ['x'], without: true, withIt: false },
    ];
    for (const { operator, values, without, withIt } of operators) {
      test(`${name} ${operator} is ${without} without the label and ${withIt} with it`, () => {
        const selects = compileSelector({ matchExpressions: [{ key: name, operator, values }] });
        expect([selects({}), selects(undefined), selects(labelled)]).toEqual([without, without, withIt]);
      });
    }

    test(`${name}=x selects by the label alone`, () => {
      const selects = selectorFromSet(labelled);
      expect([selects({}), selects(labelled)]).toEqual([false, true]);
    });

    test(`${name} makes objects differ, whichever has it`, () => {
      expect(isEqualJson({ a: labelled }, { a: {} })).toBe(false);
      expect(isEqualJson({ a: {} }, { a: labelled })).toBe(false);
      expect(isEqualJson({ a: labelled }, { a: { ...labelled } })).toBe(true);
    });

    test(`${name} is copied`, () => {
      expect(JSON.stringify(copyOf({ a: labelled }))).toBe(`{"a":{"${name}":"x"}}`);
    });
  }
});
