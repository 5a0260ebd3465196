import { describe, expect, test } from 'vitest';

import { selects, valuesToFind, valueToFind } from './rule-selectors.ts';

const id = { driver: 'd', pool: 'p', device: 'x' };

describe('a selector', () => {
  const rows = [
    { name: 'that is absent selects nothing', selector: undefined, expected: false },
    { name: 'without fields selects everything', selector: {}, expected: true },
    { name: 'selects by driver', selector: { driver: 'd' }, expected: true },
    { name: 'selects by driver, pool and device', selector: { driver: 'd', pool: 'p', device: 'x' }, expected: true },
    { name: 'selects by device alone', selector: { device: 'x' }, expected: true },
    { name: 'needs every field', selector: { driver: 'd', pool: 'other' }, expected: false },
    {
      name: 'does not match the device of another driver',
      selector: { driver: 'other', device: 'x' },
      expected: false,
    },
  ];
  for (const { name, selector, expected } of rows) {
    test(name, () => {
      expect(selects(selector, id)).toBe(expected);
      // A device that is selected is found.
      expect(!expected || valuesToFind(id).includes(valueToFind(selector) ?? '')).toBe(true);
    });
  }
});
