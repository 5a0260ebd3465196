import { describe, expect, test } from 'vitest';

import type { PersistentVolumeClaim } from '../../pkg/api/index.ts';
import { frozen, persistentVolume, persistentVolumeClaim, type Described } from '../../test/support/builders.ts';
import { boundStatus, NoCapacityError, unboundStatus } from './claim-status.ts';

type Status = NonNullable<PersistentVolumeClaim['status']>;
const claimAt = (status: Status) => frozen(persistentVolumeClaim({ status }));
const volumeOf = (described: Described<ReturnType<typeof persistentVolume>> = {}) =>
  frozen(persistentVolume(described));
const bound: Status = { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } };
const preResize = { annotations: { 'volume.alpha.kubernetes.io/pre-resize-capacity': '512Mi' } };

describe('boundStatus', () => {
  const rows: {
    name: string;
    before: Status;
    volume?: ReturnType<typeof volumeOf>;
    attributesClasses?: boolean;
    expected: Status | undefined;
  }[] = [
    { name: 'takes modes and capacity of the volume', before: { phase: 'Pending' }, expected: bound },
    { name: 'is written once', before: bound, expected: undefined },
    { name: 'keeps another capacity later', before: { ...bound, capacity: { storage: '5Gi' } }, expected: undefined },
    {
      name: 'keeps an equal capacity in another form',
      before: { phase: 'Pending', capacity: { storage: '1024Mi' } },
      expected: { ...bound, capacity: { storage: '1024Mi' } },
    },
    { name: 'corrects access modes at any time', before: { ...bound, accessModes: ['ReadOnlyMany'] }, expected: bound },
    {
      name: 'keeps conditions',
      before: { phase: 'Pending', conditions: [{ type: 'Unused', status: 'True' }] },
      expected: { ...bound, conditions: [{ type: 'Unused', status: 'True' }] },
    },
    {
      name: 'takes the capacity before a resize',
      before: { phase: 'Pending' },
      volume: volumeOf(preResize),
      expected: { ...bound, capacity: { storage: '512Mi' } },
    },
    {
      name: 'takes the capacity of the volume if that before a resize is not a quantity',
      before: { phase: 'Pending' },
      volume: volumeOf({ annotations: { 'volume.alpha.kubernetes.io/pre-resize-capacity': 'much' } }),
      expected: bound,
    },
    {
      name: 'takes the attributes class',
      before: { phase: 'Pending' },
      volume: volumeOf({ spec: { volumeAttributesClassName: 'fast' } }),
      expected: { ...bound, currentVolumeAttributesClassName: 'fast' },
    },
    {
      name: 'leaves the attributes class of a bound claim alone',
      before: { ...bound, currentVolumeAttributesClassName: 'slow' },
      volume: volumeOf({ spec: { volumeAttributesClassName: 'fast' } }),
      expected: undefined,
    },
    {
      name: 'takes no attributes class if these are off',
      before: { phase: 'Pending' },
      volume: volumeOf({ spec: { volumeAttributesClassName: 'fast' } }),
      attributesClasses: false,
      expected: bound,
    },
  ];
  for (const { name, before, volume = volumeOf(), attributesClasses = true, expected } of rows) {
    test(name, () => expect(boundStatus(claimAt(before), volume, { attributesClasses })).toEqual(expected));
  }

  test('needs a capacity', () => {
    const volume = volumeOf({ spec: { capacity: { other: '1' } } });
    expect(() => boundStatus(claimAt({ phase: 'Pending' }), volume, { attributesClasses: true })).toThrow(
      NoCapacityError,
    );
  });
});

describe('unboundStatus', () => {
  const rows: { name: string; before: Status; expected: Status | undefined }[] = [
    { name: 'is pending already', before: { phase: 'Pending' }, expected: undefined },
    {
      name: 'loses what came from a volume',
      before: { ...bound, currentVolumeAttributesClassName: 'fast' },
      expected: { phase: 'Pending' },
    },
    {
      name: 'is cleared also if it is pending',
      before: { ...bound, phase: 'Pending' },
      expected: { phase: 'Pending' },
    },
  ];
  for (const { name, before, expected } of rows)
    test(name, () => expect(unboundStatus(claimAt(before), 'Pending')).toEqual(expected));
});
