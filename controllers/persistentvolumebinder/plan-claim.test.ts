import { describe, expect, test } from 'vitest';

import { type PersistentVolume, type PersistentVolumeClaim, StorageClasses } from '../../pkg/api/index.ts';
import { build, frozen, persistentVolume, persistentVolumeClaim, type Described } from '../../test/support/builders.ts';
import type { Action } from './actions.ts';
import type { Class } from '../../pkg/volumes/index.ts';
import { isVolumeUncertain, planClaim, type ClaimSnapshot } from './plan-claim.ts';

const completed = 'pv.kubernetes.io/bind-completed';
const byController = 'pv.kubernetes.io/bound-by-controller';
const selectedNode = 'volume.kubernetes.io/selected-node';

const claimOf = (described: Described<PersistentVolumeClaim> = {}): PersistentVolumeClaim =>
  persistentVolumeClaim({
    name: 'data',
    ...described,
    spec: {
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
      volumeMode: 'Filesystem',
      ...described.spec,
    },
  });
const volumeOf = (described: Described<PersistentVolume> = {}): PersistentVolume =>
  persistentVolume({ name: 'disk', ...described });
const classOf = (provisioner: string, volumeBindingMode = 'Immediate'): Class =>
  build(StorageClasses, { name: 'fast' }, { provisioner, volumeBindingMode, reclaimPolicy: 'Delete' });

const uid = claimOf().metadata.uid;
const reference = {
  kind: 'PersistentVolumeClaim',
  apiVersion: 'v1',
  namespace: 'default',
  name: 'data',
  uid,
  resourceVersion: '1',
};
const reserved = { namespace: 'default', name: 'data' };
const bound = { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } };

function plan(snapshot: Partial<ClaimSnapshot> & Pick<ClaimSnapshot, 'claim'>): Action[] {
  const options = { attributesClasses: true, isProvisioningEnabled: true };
  return planClaim(
    frozen({
      volume: undefined,
      storageClass: undefined,
      defaultClass: undefined,
      waitingPods: [],
      options,
      ...snapshot,
    }),
  );
}

const event = (type: 'Normal' | 'Warning', reason: string, message: string): Action => ({
  kind: 'record',
  about: 'claim',
  event: { type, reason, message },
});
const lost = (reason: string, message: string): Action[] => [
  { kind: 'set-claim-status', status: { phase: 'Lost' }, event: { type: 'Warning', reason, message } },
];

const wholeBinding: Action[] = [
  { kind: 'edit-volume', edit: { claimRef: reference, annotations: { [byController]: 'yes' } } },
  { kind: 'set-volume-phase', phase: 'Bound' },
  { kind: 'edit-claim', edit: { annotations: { [byController]: 'yes', [completed]: 'yes' }, volumeName: 'disk' } },
  { kind: 'set-claim-status', status: bound },
];
const finishClaim: Action[] = [
  { kind: 'edit-claim', edit: { annotations: { [completed]: 'yes' } } },
  { kind: 'set-claim-status', status: bound },
];

type Row = Partial<ClaimSnapshot> & { title: string; claim: PersistentVolumeClaim; expected: Action[] };

describe('a claim that names no volume', () => {
  const classed = { spec: { storageClassName: 'fast' } };
  test.each<Row>([
    { title: 'is bound to the volume that was found', claim: claimOf(), volume: volumeOf(), expected: wholeBinding },
    {
      title: 'is bound to a volume that its user reserved, which gets no annotation',
      claim: claimOf(),
      volume: volumeOf({ spec: { claimRef: reserved } }),
      expected: [{ kind: 'edit-volume', edit: { claimRef: reference } }, ...wholeBinding.slice(1)],
    },
    {
      title: 'is bound to a volume whose binding a crash left after the reference',
      claim: claimOf(),
      volume: volumeOf({ spec: { claimRef: reference }, annotations: { [byController]: 'yes' } }),
      expected: wholeBinding.slice(1),
    },
    {
      title: 'is bound to a volume whose binding a crash left after the phase',
      claim: claimOf(),
      volume: volumeOf({
        spec: { claimRef: reference },
        annotations: { [byController]: 'yes' },
        status: { phase: 'Bound' },
      }),
      expected: wholeBinding.slice(2),
    },
    {
      title: 'is found first, and gets the default class only if nothing is found',
      claim: claimOf({ spec: { storageClassName: undefined } }),
      volume: volumeOf(),
      defaultClass: 'fast',
      expected: wholeBinding,
    },
    {
      title: 'gets the default class',
      claim: claimOf({ spec: { storageClassName: undefined } }),
      defaultClass: 'fast',
      expected: [{ kind: 'assign-class', className: 'fast' }],
    },
    {
      title: 'that asks for no class gets none',
      claim: claimOf(),
      defaultClass: 'fast',
      expected: [
        event('Normal', 'FailedBinding', 'no persistent volumes available for this claim and no storage class is set'),
      ],
    },
    {
      title: 'becomes pending',
      claim: claimOf({ status: { phase: 'Lost', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } } }),
      expected: [
        event('Normal', 'FailedBinding', 'no persistent volumes available for this claim and no storage class is set'),
        { kind: 'set-claim-status', status: { phase: 'Pending' } },
      ],
    },
    {
      title: 'waits for a consumer',
      claim: claimOf(classed),
      storageClass: classOf('example.com', 'WaitForFirstConsumer'),
      expected: [event('Normal', 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding')],
    },
    {
      title: 'waits for its pod to be scheduled',
      claim: claimOf(classed),
      storageClass: classOf('example.com', 'WaitForFirstConsumer'),
      waitingPods: ['web-0'],
      expected: [event('Normal', 'WaitForPodScheduled', 'waiting for pod web-0 to be scheduled')],
    },
    {
      title: 'waits for one of its pods to be scheduled',
      claim: claimOf(classed),
      storageClass: classOf('example.com', 'WaitForFirstConsumer'),
      waitingPods: ['web-0', 'web-1'],
      expected: [event('Normal', 'WaitForPodScheduled', 'waiting for pods web-0,web-1 to be scheduled')],
    },
    {
      title: 'is provisioned once a node is selected',
      claim: claimOf({ ...classed, annotations: { [selectedNode]: 'a' } }),
      storageClass: classOf('example.com', 'WaitForFirstConsumer'),
      expected: [
        {
          kind: 'provision',
          storageClass: classOf('example.com', 'WaitForFirstConsumer'),
          provisioner: { kind: 'external', name: 'example.com' },
        },
      ],
    },
    {
      title: 'is provisioned by the driver that took over from its plugin',
      claim: claimOf(classed),
      storageClass: classOf('kubernetes.io/aws-ebs'),
      expected: [
        {
          kind: 'provision',
          storageClass: classOf('kubernetes.io/aws-ebs'),
          provisioner: { kind: 'external', name: 'ebs.csi.aws.com' },
        },
      ],
    },
    {
      title: 'of an unknown class says so',
      claim: claimOf(classed),
      expected: [event('Warning', 'ProvisioningFailed', 'storageclass.storage.k8s.io "fast" not found')],
    },
    {
      title: 'of a class that provisions nothing says so',
      claim: claimOf(classed),
      storageClass: classOf('kubernetes.io/no-provisioner'),
      expected: [event('Warning', 'ProvisioningFailed', 'no volume plugin matched name: kubernetes.io/no-provisioner')],
    },
    {
      title: 'is not provisioned if that is turned off',
      claim: claimOf(classed),
      storageClass: classOf('example.com'),
      options: { attributesClasses: true, isProvisioningEnabled: false },
      expected: [],
    },
    {
      title: 'gets the driver of its provisioner, and goes on from there',
      claim: claimOf({ annotations: { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/aws-ebs' } }),
      volume: volumeOf(),
      expected: [
        {
          kind: 'edit-claim',
          edit: {
            annotations: {
              'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/aws-ebs',
              'pv.kubernetes.io/migrated-to': 'ebs.csi.aws.com',
            },
          },
        },
        ...wholeBinding.slice(0, 2),
        {
          kind: 'edit-claim',
          edit: {
            annotations: {
              'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/aws-ebs',
              'pv.kubernetes.io/migrated-to': 'ebs.csi.aws.com',
              [byController]: 'yes',
              [completed]: 'yes',
            },
            volumeName: 'disk',
          },
        },
        ...wholeBinding.slice(3),
      ],
    },
  ])('$title', ({ title: _title, expected, ...snapshot }) => expect(plan(snapshot)).toEqual(expected));
});

describe('a claim that names its volume', () => {
  const named = { spec: { volumeName: 'disk' } };
  const taken = volumeOf({ spec: { claimRef: { ...reference, name: 'other', uid: 'other' } } });
  const mismatch = (problem: string): Action[] => [
    event('Warning', 'VolumeMismatch', `Cannot bind to requested volume "disk": ${problem}`),
  ];
  test.each<Row>([
    { title: 'waits for it', claim: claimOf(named), expected: [] },
    {
      title: 'is bound to it',
      claim: claimOf(named),
      volume: volumeOf(),
      expected: [...wholeBinding.slice(0, 2), ...finishClaim],
    },
    {
      title: 'is bound to it also if it is reserved for the claim',
      claim: claimOf(named),
      volume: volumeOf({ spec: { claimRef: reserved } }),
      expected: [{ kind: 'edit-volume', edit: { claimRef: reference } }, wholeBinding[1], ...finishClaim] as Action[],
    },
    {
      title: 'is completed if a crash left it after the reference of the claim',
      claim: claimOf({ ...named, annotations: { [byController]: 'yes' } }),
      volume: volumeOf({
        spec: { claimRef: reference },
        annotations: { [byController]: 'yes' },
        status: { phase: 'Bound' },
      }),
      expected: [
        { kind: 'edit-claim', edit: { annotations: { [byController]: 'yes', [completed]: 'yes' } } },
        { kind: 'set-claim-status', status: bound },
      ],
    },
    {
      title: 'waits if another claim has it',
      claim: claimOf({ ...named, status: { phase: 'Bound' } }),
      volume: taken,
      expected: [
        event('Warning', 'FailedBinding', 'volume "disk" already bound to a different claim.'),
        { kind: 'set-claim-status', status: { phase: 'Pending' } },
      ],
    },
    {
      title: 'waits if an earlier claim of its name has it',
      claim: claimOf(named),
      volume: volumeOf({ spec: { claimRef: { ...reference, uid: 'earlier' } } }),
      expected: [event('Warning', 'FailedBinding', 'volume "disk" already bound to a different claim.')],
    },
    {
      title: 'fails if the binder named it and another claim has it',
      claim: claimOf({ ...named, annotations: { [byController]: 'yes' } }),
      volume: taken,
      expected: [
        event('Warning', 'FailedBinding', 'volume "disk" already bound to a different claim.'),
        {
          kind: 'fail',
          message:
            'invalid binding of claim "default/data" to volume "disk": volume already claimed by "default/other"',
        },
      ],
    },
    {
      title: 'waits if it is too small',
      claim: claimOf(named),
      volume: volumeOf({ spec: { capacity: { storage: '1023Mi' } } }),
      expected: mismatch('requested PV is too small'),
    },
    {
      title: 'waits if it is being deleted',
      claim: claimOf(named),
      volume: volumeOf({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      expected: mismatch('the volume is marked for deletion "disk"'),
    },
    {
      title: 'waits if it has another class',
      claim: claimOf(named),
      volume: volumeOf({ spec: { storageClassName: 'fast' } }),
      expected: mismatch('storageClassName does not match'),
    },
    {
      title: 'waits if it has another attributes class',
      claim: claimOf(named),
      volume: volumeOf({ spec: { volumeAttributesClassName: 'gold' } }),
      expected: mismatch('volumeAttributesClassName does not match'),
    },
    {
      title: 'waits if attributes classes are turned off',
      claim: claimOf({ spec: { volumeName: 'disk', volumeAttributesClassName: 'gold' } }),
      volume: volumeOf({ spec: { volumeAttributesClassName: 'gold' } }),
      options: { attributesClasses: false, isProvisioningEnabled: true },
      expected: mismatch(
        'volumeAttributesClassName is not supported when the feature-gate VolumeAttributesClass is disabled',
      ),
    },
    {
      title: 'waits if it has another mode',
      claim: claimOf(named),
      volume: volumeOf({ spec: { volumeMode: 'Block' } }),
      expected: mismatch('incompatible volumeMode'),
    },
    {
      title: 'waits if it lacks an access mode',
      claim: claimOf({ spec: { volumeName: 'disk', accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } }),
      volume: volumeOf(),
      expected: mismatch('incompatible accessMode'),
    },
  ])('$title', ({ title: _title, expected, ...snapshot }) => expect(plan(snapshot)).toEqual(expected));
});

describe('a claim that was bound', () => {
  const was = { annotations: { [completed]: 'yes' }, spec: { volumeName: 'disk' }, status: bound };
  const whole = { spec: { claimRef: reference }, status: { phase: 'Bound' } };
  const noVolume = 'Bound claim has lost its PersistentVolume. Data on the volume is lost!';
  const noName = 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!';
  test.each<Row>([
    { title: 'stays as it is', claim: claimOf(was), volume: volumeOf(whole), expected: [] },
    {
      title: 'keeps a capacity that differs from that of its volume',
      claim: claimOf({ ...was, status: { ...bound, capacity: { storage: '512Mi' } } }),
      volume: volumeOf(whole),
      expected: [],
    },
    {
      title: 'is bound again if its volume lost the reference',
      claim: claimOf(was),
      volume: volumeOf(),
      expected: wholeBinding.slice(0, 2),
    },
    {
      title: 'gets the status that a crash left out',
      claim: claimOf({ ...was, status: { phase: 'Pending' } }),
      volume: volumeOf(whole),
      expected: [{ kind: 'set-claim-status', status: bound }],
    },
    {
      title: 'is found again after it was lost',
      claim: claimOf({ ...was, status: { phase: 'Lost' } }),
      volume: volumeOf(whole),
      expected: [{ kind: 'set-claim-status', status: bound }],
    },
    { title: 'is lost without its volume', claim: claimOf(was), expected: lost('ClaimLost', noVolume) },
    {
      title: 'is lost without the name of its volume',
      claim: claimOf({ ...was, spec: {} }),
      expected: lost('ClaimLost', noName),
    },
    { title: 'is lost once', claim: claimOf({ ...was, status: { phase: 'Lost' } }), expected: [] },
    {
      title: 'is lost if its volume belongs to another',
      claim: claimOf(was),
      volume: volumeOf({ spec: { claimRef: { ...reference, uid: 'other' } } }),
      expected: lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly'),
    },
    {
      title: 'is lost if its volume is reserved without uid',
      claim: claimOf(was),
      volume: volumeOf({ spec: { claimRef: reserved } }),
      expected: lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly'),
    },
  ])('$title', ({ title: _title, expected, ...snapshot }) => expect(plan(snapshot)).toEqual(expected));
});

describe('the server is asked for the volume of', () => {
  const was = { annotations: { [completed]: 'yes' }, spec: { volumeName: 'disk' } };
  test.each([
    { title: 'a bound claim without one', claim: claimOf(was), volume: undefined, expected: true },
    {
      title: 'no lost claim',
      claim: claimOf({ ...was, status: { phase: 'Lost' } }),
      volume: undefined,
      expected: false,
    },
    {
      title: 'no claim that was never bound',
      claim: claimOf({ spec: { volumeName: 'disk' } }),
      volume: undefined,
      expected: false,
    },
    { title: 'no claim without a name', claim: claimOf({ ...was, spec: {} }), volume: undefined, expected: false },
    { title: 'no claim whose volume has no claim', claim: claimOf(was), volume: volumeOf(), expected: false },
    {
      title: 'no claim that is bound well',
      claim: claimOf(was),
      volume: volumeOf({ spec: { claimRef: reference } }),
      expected: false,
    },
    {
      title: 'a claim whose volume belongs to another',
      claim: claimOf(was),
      volume: volumeOf({ spec: { claimRef: { ...reference, uid: 'other' } } }),
      expected: true,
    },
  ])('$title', ({ claim, volume, expected }) => expect(isVolumeUncertain(frozen(claim), volume)).toBe(expected));
});
