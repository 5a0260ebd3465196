import { expect, test } from 'vitest';

import { PersistentVolumes } from '../../pkg/api/index.ts';
import { build, frozen, persistentVolumeClaim } from '../../test/support/builders.ts';
import { classesOfClaim, classesOfVolume, releasedClasses } from './references.ts';

const modifying = (target?: string) => ({
  currentVolumeAttributesClassName: 'silver',
  modifyVolumeStatus: { status: 'Pending', ...(target !== undefined && { targetVolumeAttributesClassName: target }) },
});

test.each([
  { title: 'nothing', spec: {}, status: {}, expected: [] },
  { title: 'the class that it wants', spec: { volumeAttributesClassName: 'gold' }, status: {}, expected: ['gold'] },
  { title: 'no class without a name', spec: { volumeAttributesClassName: '' }, status: {}, expected: [] },
  {
    title: 'all three, while it is changed and has changed its mind',
    spec: { volumeAttributesClassName: 'bronze' },
    status: modifying('gold'),
    expected: ['bronze', 'silver', 'gold'],
  },
  {
    title: 'each of them once',
    spec: { volumeAttributesClassName: 'silver' },
    status: modifying('silver'),
    expected: ['silver'],
  },
  { title: 'the class that it has', spec: {}, status: modifying(), expected: ['silver'] },
])('a claim refers to $title', ({ spec, status, expected }) => {
  expect(classesOfClaim(frozen(persistentVolumeClaim({ spec, status })))).toEqual(expected);
});

test('a volume refers to its class', () => {
  const volume = (spec: object) => frozen(build(PersistentVolumes, {}, { spec }));
  expect(classesOfVolume(volume({ volumeAttributesClassName: 'gold' }))).toEqual(['gold']);
  expect(classesOfVolume(volume({}))).toEqual([]);
});

test('a class is released when it is no longer among those referred to', () => {
  expect(releasedClasses(['gold', 'silver'], ['silver', 'bronze'])).toEqual(['gold']);
});
