import { expect, test } from 'vitest';

import {
  CSIDrivers,
  keyOf,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  type CSIDriver,
  type Pod,
} from '../../pkg/api/index.ts';
import { build, persistentVolume, persistentVolumeClaim, pod } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { createSelinuxWarning } from './selinux-warning.ts';

const signal = new AbortController().signal;
const driver = 'ebs.csi.aws.com';
const csiDriver = (seLinuxMount: boolean): CSIDriver =>
  build<CSIDriver>(CSIDrivers, { name: driver }, { spec: { seLinuxMount } });

function user(name: string, level: string): Pod {
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  return pod({
    name,
    spec: {
      securityContext: { seLinuxOptions: { level } },
      containers: [{ name: 'app', image: 'x', volumeMounts }],
      volumes: [{ name: 'data', awsElasticBlockStore: { volumeID: 'vol-1' } }],
    },
  });
}

const seriesOf = async ({ context }: TestContext): Promise<number> =>
  (await context.metrics.metrics()).split('\n').filter((line) => line.startsWith('selinux_warning')).length;

test('pods with different labels are told, until one is finished', async () => {
  const base = createTestContext();
  base.server.seed(CSIDrivers, csiDriver(true));
  base.server.seed(Pods, user('a', 's0:c1'));
  await whileRunning(base, createSelinuxWarning(base.context), async () => {
    const { metadata: _metadata, ...fields } = user('b', 's0:c2');
    await base.server.create(Pods, { ...fields, metadata: { namespace: 'default', name: 'b' } }, signal);
    await settle();
    expect(base.recorded.map(({ object, reason }) => `${reason} ${object}`).sort()).toEqual([
      'SELinuxLabelConflict default/a',
      'SELinuxLabelConflict default/b',
    ]);
    expect(await seriesOf(base)).toBe(2);
    const finished = { type: 'merge', subresource: 'status', body: { status: { phase: 'Succeeded' } } } as const;
    await base.server.patch(Pods, keyOf(user('a', '')), finished, signal);
    await settle();
    expect(await seriesOf(base)).toBe(0);
  });
  expect(base.client.writes).toEqual([]);
});

test('a driver that does not set labels with the mount causes no conflict, until it does', async () => {
  const base = createTestContext();
  base.server.seed(CSIDrivers, csiDriver(false));
  for (const [name, level] of [
    ['a', 's0:c1'],
    ['b', 's0:c2'],
  ] as const)
    base.server.seed(Pods, user(name, level));
  await whileRunning(base, createSelinuxWarning(base.context), async () => {
    expect(base.recorded).toEqual([]);
    const patch = { type: 'merge', body: { spec: { seLinuxMount: true } } } as const;
    await base.server.patch(CSIDrivers, objectKey(undefined, driver), patch, signal);
    await settle();
    expect(base.recorded.map(({ reason }) => reason)).toContain('SELinuxLabelConflict');
  });
});

type PodVolume = NonNullable<Pod['spec']['volumes']>[number];

/** A pod with two containers, of different labels, that mount the volume. */
function userWithTwoLabels(volume: Omit<PodVolume, 'name'>): Pod {
  const twice = user('a', 's0:c1');
  const [first] = twice.spec.containers;
  if (first === undefined) throw new Error('no container');
  twice.spec.containers.push({ ...first, name: 'other', securityContext: { seLinuxOptions: { level: 's0:c2' } } });
  twice.spec.volumes = [{ name: 'data', ...volume }];
  return twice;
}

test.each([
  ['that is attached', { awsElasticBlockStore: { volumeID: 'vol-1' } }],
  ['of a kind that is never attached', { emptyDir: {} }],
])('a pod that mounts a volume %s with two labels is told', async (_title, volume) => {
  const base = createTestContext();
  base.server.seed(Pods, userWithTwoLabels(volume));
  await whileRunning(base, createSelinuxWarning(base.context), settle);
  expect(base.recorded[0]).toMatchObject({
    type: 'Warning',
    reason: 'MultipleSELinuxLabels',
    message: 'Volume "data" is mounted twice with different SELinux labels inside this pod',
  });
});

test('a pod that mounts a claim with two labels is told once the claim is bound', async () => {
  const base = createTestContext();
  base.server.seed(Pods, userWithTwoLabels({ persistentVolumeClaim: { claimName: 'data' } }));
  await whileRunning(base, createSelinuxWarning(base.context), async () => {
    const spec = { volumeName: 'disk' };
    const claim = base.server.seed(PersistentVolumeClaims, persistentVolumeClaim({ name: 'data', spec }));
    const claimRef = { namespace: 'default', name: 'data', uid: claim.metadata.uid };
    base.server.seed(PersistentVolumes, persistentVolume({ name: 'disk', spec: { claimRef } }));
    await settle();
    expect(base.recorded).toEqual([]);
    const isBound = { type: 'merge', subresource: 'status', body: { status: { phase: 'Bound' } } } as const;
    await base.server.patch(PersistentVolumeClaims, keyOf(claim), isBound, signal);
    await settle();
    expect(base.recorded.map(({ reason }) => reason)).toEqual(['MultipleSELinuxLabels']);
  });
});
