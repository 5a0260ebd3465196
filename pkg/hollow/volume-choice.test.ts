import { describe, expect, test } from 'vitest';

import { StorageClasses, type PersistentVolume, type PersistentVolumeClaim } from '../api/index.ts';
import {
  build,
  frozen,
  node,
  persistentVolume,
  persistentVolumeClaim,
  type Described,
} from '../../test/support/builders.ts';
import { compileClaimPlan, type UnboundClaim } from './volume-choice.ts';

const here = node({ name: 'here', metadata: { labels: { 'kubernetes.io/hostname': 'here' } } });
const classOf = (provisioner: string, volumeBindingMode = 'WaitForFirstConsumer') =>
  build(StorageClasses, { name: 'local' }, { provisioner, volumeBindingMode });
const byHand = classOf('kubernetes.io/no-provisioner');
const made = classOf('example.com');

const claimOf = (name: string, size = '1Gi', { spec, ...described }: Described<PersistentVolumeClaim> = {}) =>
  frozen(
    persistentVolumeClaim({
      name,
      ...described,
      spec: { storageClassName: 'local', resources: { requests: { storage: size } }, ...spec },
    }),
  );

function diskOf(name: string, size = '1Gi', spec: Partial<PersistentVolume['spec']> = {}): PersistentVolume {
  const metadata = { labels: { disk: name } };
  const given = { accessModes: ['ReadWriteOnce'], storageClassName: 'local', capacity: { storage: size }, ...spec };
  return persistentVolume({ name, metadata, spec: given, status: { phase: 'Available' } });
}

const on = (hostname: string): Partial<PersistentVolume['spec']> => {
  const isHost = { key: 'kubernetes.io/hostname', operator: 'In', values: [hostname] };
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [isHost] }] } } };
};

/** What is planned, by names; undefined if the node cannot serve the claims. */
function plan(...unbound: Partial<UnboundClaim>[]): object | undefined {
  const given = unbound.map((each) => ({ claim: claimOf('a'), storageClass: byHand, reserved: [], free: [], ...each }));
  const found = compileClaimPlan(given)(here);
  return (
    found && {
      bind: found.bind.map(({ claim, volume }) => [claim.metadata.name, volume.metadata.name]),
      provision: found.provision.map(({ metadata }) => metadata.name),
    }
  );
}

const nothing = { bind: [], provision: [] };
const disk = { bind: [['a', 'disk']], provision: [] };
const referenceTo = ({ metadata: { namespace, name, uid } }: ReturnType<typeof claimOf>) => ({ namespace, name, uid });

describe('a claim that waits for its first consumer', () => {
  const rows: { name: string; given: Partial<UnboundClaim>; expected: object | undefined }[] = [
    {
      name: 'gets a volume that the node can reach',
      given: { free: [diskOf('disk', '1Gi', on('here'))] },
      expected: disk,
    },
    {
      name: 'gets no volume of another node',
      given: { free: [diskOf('disk', '1Gi', on('there'))] },
      expected: undefined,
    },
    { name: 'gets no volume that is too small', given: { free: [diskOf('disk', '1Mi')] }, expected: undefined },
    {
      name: 'gets no volume of another mode',
      given: { free: [diskOf('disk', '1Gi', { volumeMode: 'Block' })] },
      expected: undefined,
    },
    {
      name: 'gets the smallest volume that is large enough',
      given: { free: [diskOf('large', '3Gi'), diskOf('disk', '2Gi'), diskOf('small', '1Mi')] },
      expected: disk,
    },
    {
      name: 'gets a volume that its selector matches',
      given: {
        claim: claimOf('a', '1Gi', { spec: { selector: { matchLabels: { disk: 'disk' } } } }),
        free: [diskOf('other'), diskOf('disk')],
      },
      expected: disk,
    },
    {
      name: 'prefers a volume that is there to a new one',
      given: { storageClass: made, free: [diskOf('disk')] },
      expected: disk,
    },
    {
      name: 'is provisioned if there is none',
      given: { storageClass: made },
      expected: { bind: [], provision: ['a'] },
    },
    { name: 'cannot be provisioned by hand', given: {}, expected: undefined },
    {
      name: 'that is being provisioned gets no other volume',
      given: {
        claim: claimOf('a', '1Gi', { annotations: { 'volume.kubernetes.io/selected-node': 'here' } }),
        storageClass: made,
        free: [diskOf('disk')],
      },
      expected: nothing,
    },
    {
      name: 'gets the volume that is reserved for it',
      given: {
        reserved: [diskOf('own', '1Gi', { claimRef: referenceTo(claimOf('a')), ...on('here') })],
        free: [diskOf('disk')],
      },
      expected: nothing,
    },
    {
      name: 'must run where the volume is that is reserved for it',
      given: {
        reserved: [diskOf('own', '1Gi', { claimRef: referenceTo(claimOf('a')), ...on('there') })],
        free: [diskOf('disk')],
      },
      expected: undefined,
    },
    {
      name: 'is left to the binder once it names a volume',
      given: { claim: claimOf('a', '1Gi', { spec: { volumeName: 'own' } }), free: [diskOf('disk')] },
      expected: nothing,
    },
  ];
  for (const { name, given, expected } of rows) test(name, () => expect(plan(given)).toEqual(expected));
});

test('a claim that does not wait is left to the binder', () =>
  expect(plan({ storageClass: classOf('example.com', 'Immediate'), free: [diskOf('disk')] })).toEqual(nothing));

test('two claims of a pod get different volumes, the smaller claim first', () => {
  const free = [diskOf('small'), diskOf('large', '2Gi')];
  expect(plan({ claim: claimOf('a', '2Gi'), free }, { claim: claimOf('b'), free })).toEqual({
    bind: [
      ['b', 'small'],
      ['a', 'large'],
    ],
    provision: [],
  });
});

test('a node that can serve one of two claims serves none', () => {
  const free = [diskOf('disk')];
  expect(plan({ claim: claimOf('a'), free }, { claim: claimOf('b'), free })).toBeUndefined();
});
