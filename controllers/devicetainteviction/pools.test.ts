import { expect, test } from 'vitest';

import type { DeviceTaint } from '../../pkg/api/index.ts';
import { frozen } from '../../test/support/builders.ts';
import { resourceSlice } from '../../test/support/claim-builders.ts';
import { evictingTaintsOf } from './pools.ts';

const taint = (key: string, effect: string): DeviceTaint => ({ key, effect });

test('only NoExecute taints evict', () => {
  const slice = frozen(
    resourceSlice('slice', {
      both: [taint('a', 'NoSchedule'), taint('b', 'NoExecute')],
      none: [taint('c', 'None')],
      clean: [],
    }),
  );
  expect([...evictingTaintsOf(slice)]).toEqual([['both', [taint('b', 'NoExecute')]]]);
});
