import { describe, expect, test } from 'vitest';

import type { PersistentVolume, PersistentVolumeClaim } from '../../pkg/api/index.ts';
import { frozen, persistentVolume, persistentVolumeClaim, type Described } from '../../test/support/builders.ts';
import type { Action } from './actions.ts';
import { isClaimUncertain, isReclaimable, planVolume } from './plan-volume.ts';

const byController = 'pv.kubernetes.io/bound-by-controller';
const provisionedBy = 'pv.kubernetes.io/provisioned-by';
const migratedTo = 'pv.kubernetes.io/migrated-to';
const claimOf = (described: Described<PersistentVolumeClaim> = {}): PersistentVolumeClaim =>
  persistentVolumeClaim({ name: 'data', ...described });
const { uid } = claimOf().metadata;
const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data', uid };
const volumeOf = ({ spec, ...described }: Described<PersistentVolume> = {}): PersistentVolume =>
  persistentVolume({ name: 'disk', ...described, spec: { claimRef, ...spec } });

const phase = (value: 'Available' | 'Bound' | 'Released' | 'Failed'): Action => ({
  kind: 'set-volume-phase',
  phase: value,
});
const at = (value: string): { status: { phase: string } } => ({ status: { phase: value } });
const elsewhere = claimOf({ spec: { volumeName: 'other' } });

type Row = { title: string; volume: PersistentVolume; claim?: PersistentVolumeClaim; expected: Action[] };

describe('a volume', () => {
  test.each<Row>([
    {
      title: 'is available without a claim',
      volume: volumeOf({ spec: { claimRef: undefined }, ...at('Pending') }),
      expected: [phase('Available')],
    },
    {
      title: 'stays available while it is reserved',
      volume: volumeOf({ spec: { claimRef: { namespace: 'default', name: 'data' } } }),
      expected: [],
    },
    {
      title: 'is available again when a user removes its claim',
      volume: volumeOf({ spec: { claimRef: undefined }, ...at('Released') }),
      expected: [phase('Available')],
    },
    {
      title: 'is bound with its claim',
      volume: volumeOf(),
      claim: claimOf({ spec: { volumeName: 'disk' } }),
      expected: [phase('Bound')],
    },
    {
      title: 'stays bound',
      volume: volumeOf(at('Bound')),
      claim: claimOf({ spec: { volumeName: 'disk' } }),
      expected: [],
    },
    {
      title: 'waits for the other half of its binding',
      volume: volumeOf(at('Bound')),
      claim: claimOf(),
      expected: [{ kind: 'enqueue-claim' }],
    },
    {
      title: 'says that its claim wants another mode',
      volume: volumeOf({ spec: { volumeMode: 'Block' } }),
      claim: claimOf(),
      expected: [
        {
          kind: 'record',
          about: 'volume',
          event: {
            type: 'Warning',
            reason: 'VolumeMismatch',
            message:
              'Cannot bind PersistentVolume to requested PersistentVolumeClaim "data" due to incompatible volumeMode.',
          },
        },
        {
          kind: 'record',
          about: 'claim',
          event: {
            type: 'Warning',
            reason: 'VolumeMismatch',
            message:
              'Cannot bind PersistentVolume "disk" to requested PersistentVolumeClaim due to incompatible volumeMode.',
          },
        },
      ],
    },
    {
      title: 'that the binder bound is freed if its claim is bound elsewhere',
      volume: volumeOf({ annotations: { [byController]: 'yes', other: 'a' }, ...at('Bound') }),
      claim: elsewhere,
      expected: [{ kind: 'edit-volume', edit: { claimRef: null, annotations: { other: 'a' } } }, phase('Available')],
    },
    {
      title: 'that a user bound stays reserved if its claim is bound elsewhere',
      volume: volumeOf(),
      claim: elsewhere,
      expected: [
        {
          kind: 'edit-volume',
          edit: { claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' } },
        },
      ],
    },
    {
      title: 'that was provisioned for a claim that is bound elsewhere is deleted',
      volume: volumeOf({
        annotations: { [provisionedBy]: 'example.com' },
        spec: { persistentVolumeReclaimPolicy: 'Delete' },
      }),
      claim: elsewhere,
      expected: [phase('Released'), { kind: 'delete' }],
    },
    {
      title: 'that was provisioned and is retained is freed',
      volume: volumeOf({ annotations: { [provisionedBy]: 'example.com', [byController]: 'yes' } }),
      claim: elsewhere,
      expected: [{ kind: 'edit-volume', edit: { claimRef: null, annotations: { [provisionedBy]: 'example.com' } } }],
    },
  ])('$title', ({ volume, claim, expected }) =>
    expect(planVolume(frozen(volume), claim && frozen(claim))).toEqual(expected),
  );
});

describe('a volume whose claim is gone', () => {
  const policy = (persistentVolumeReclaimPolicy: string): { spec: { persistentVolumeReclaimPolicy: string } } => ({
    spec: { persistentVolumeReclaimPolicy },
  });
  test.each<Row>([
    { title: 'is released', volume: volumeOf(at('Bound')), expected: [phase('Released')] },
    { title: 'stays released', volume: volumeOf(at('Released')), expected: [] },
    {
      title: 'is deleted',
      volume: volumeOf({ ...policy('Delete'), ...at('Bound') }),
      expected: [phase('Released'), { kind: 'delete' }],
    },
    {
      title: 'is deleted again after a failure',
      volume: volumeOf({ ...policy('Delete'), ...at('Failed') }),
      expected: [{ kind: 'delete' }],
    },
    {
      title: 'is recycled',
      volume: volumeOf({ ...policy('Recycle'), ...at('Released') }),
      expected: [{ kind: 'recycle' }],
    },
    {
      title: 'fails with an unknown policy',
      volume: volumeOf({ ...policy('Burn'), ...at('Released') }),
      expected: [
        {
          kind: 'set-volume-phase',
          phase: 'Failed',
          event: {
            type: 'Warning',
            reason: 'VolumeUnknownReclaimPolicy',
            message: 'Volume has unrecognized PersistentVolumeReclaimPolicy',
          },
        },
      ],
    },
    { title: 'fails once', volume: volumeOf({ ...policy('Burn'), ...at('Failed') }), expected: [] },
    {
      title: 'is left to the driver that took over',
      volume: volumeOf({
        ...policy('Delete'),
        ...at('Released'),
        annotations: { [provisionedBy]: 'kubernetes.io/aws-ebs', [migratedTo]: 'ebs.csi.aws.com' },
      }),
      expected: [],
    },
    {
      title: 'gets the annotation first, and is then left to the driver that took over',
      volume: volumeOf({
        ...policy('Delete'),
        ...at('Released'),
        annotations: { [provisionedBy]: 'kubernetes.io/aws-ebs' },
      }),
      expected: [
        {
          kind: 'edit-volume',
          edit: { annotations: { [provisionedBy]: 'kubernetes.io/aws-ebs', [migratedTo]: 'ebs.csi.aws.com' } },
        },
      ],
    },
    {
      title: 'gets the finalizer before it is deleted',
      volume: volumeOf({
        ...policy('Delete'),
        ...at('Released'),
        annotations: { [provisionedBy]: 'kubernetes.io/host-path' },
      }),
      expected: [{ kind: 'edit-volume', edit: { finalizers: ['kubernetes.io/pv-controller'] } }, { kind: 'delete' }],
    },
  ])('$title', ({ volume, expected }) => expect(planVolume(frozen(volume), undefined)).toEqual(expected));
});

describe('the server is asked for the claim of', () => {
  test.each<{ title: string; volume: PersistentVolume; claim?: PersistentVolumeClaim; expected: boolean }>([
    { title: 'a bound volume without one', volume: volumeOf(at('Bound')), expected: true },
    { title: 'no released volume', volume: volumeOf(at('Released')), expected: false },
    { title: 'no failed volume', volume: volumeOf(at('Failed')), expected: false },
    { title: 'no volume whose claim is known', volume: volumeOf(at('Bound')), claim: claimOf(), expected: false },
    {
      title: 'a volume whose claim has another uid',
      volume: volumeOf(at('Released')),
      claim: claimOf({ metadata: { uid: 'other' } }),
      expected: true,
    },
    { title: 'no reserved volume', volume: volumeOf({ spec: { claimRef: { name: 'data' } } }), expected: false },
    { title: 'no free volume', volume: volumeOf({ spec: { claimRef: undefined } }), expected: false },
  ])('$title', ({ volume, claim, expected }) => expect(isClaimUncertain(volume, claim)).toBe(expected));
});

describe('a volume may be reclaimed', () => {
  test.each<{ title: string; volume?: PersistentVolume; claim?: PersistentVolumeClaim; expected: boolean }>([
    { title: 'without its claim', expected: true },
    { title: 'with another claim of the name', claim: claimOf({ metadata: { uid: 'other' } }), expected: true },
    { title: 'with a claim that is bound elsewhere', claim: elsewhere, expected: true },
    { title: 'not with its claim', claim: claimOf({ spec: { volumeName: 'disk' } }), expected: false },
    { title: 'not with a claim that is not bound yet', claim: claimOf(), expected: false },
    { title: 'not while it is reserved', volume: volumeOf({ spec: { claimRef: { name: 'data' } } }), expected: false },
    { title: 'not without a reference', volume: volumeOf({ spec: { claimRef: undefined } }), expected: false },
  ])('$title', ({ volume = volumeOf(), claim, expected }) => expect(isReclaimable(volume, claim)).toBe(expected));
});
