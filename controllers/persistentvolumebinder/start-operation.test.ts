import { expect, test } from 'vitest';

import { persistentVolume, persistentVolumeClaim } from '../../test/support/builders.ts';
import { forgetClaim, forgetVolume } from './start-operation.ts';

function recordForgotten() {
  const forgotten: string[] = [];
  const operations = { forget: (name: string) => forgotten.push(name) };
  return { forgotten, operations, times: { succeeded: () => undefined, abandon: () => undefined } };
}

test('the failures of a volume that is gone are forgotten, those of its recycling too', () => {
  const deps = recordForgotten();
  forgetVolume(persistentVolume({ name: 'disk', metadata: { uid: 'a' } }), deps);
  expect(deps.forgotten.sort()).toEqual(['delete-disk[a]', 'recycle-disk[a]']);
});

test('the failures of a claim that is gone are forgotten', () => {
  const deps = recordForgotten();
  forgetClaim(persistentVolumeClaim({ name: 'data', metadata: { uid: 'a' } }), deps);
  expect(deps.forgotten).toEqual(['provision-default/data[a]']);
});
