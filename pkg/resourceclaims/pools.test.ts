import { expect, test } from 'vitest';

import { ExactInteger } from '../api/index.ts';
import { frozen } from '../../test/support/builders.ts';
import { resourceSlice } from '../../test/support/claim-builders.ts';
import { currentSlices } from './pools.ts';

test('only slices of the newest generation count, also beyond 2^53', () => {
  const exact = (text: string): number => ExactInteger.of(text) as unknown as number;
  const slices = [
    resourceSlice('old', {}, 9),
    resourceSlice('older', {}, exact('9007199254740993')),
    resourceSlice('new', {}, exact('9007199254740994')),
    resourceSlice('also-new', {}, exact('9007199254740994')),
  ].map((slice) => frozen(slice));
  expect(currentSlices(slices).map(({ metadata }) => metadata.name)).toEqual(['new', 'also-new']);
  expect(currentSlices([])).toEqual([]);
});
