import { describe, expect, test } from 'vitest';

import {
  keyOf,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  StorageClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../../pkg/api/index.ts';
import { build, persistentVolume, persistentVolumeClaim, pod } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createPersistentVolumeBinder } from './persistent-volume-binder.ts';
import { defaultTemplate } from './recycler-pod.ts';

const signal = new AbortController().signal;
const recycler = { template: defaultTemplate, minimumSeconds: 60, secondsPerGi: 30 };
const options = {
  syncPeriodMs: 15_000,
  isProvisioningEnabled: true,
  isHostPathEnabled: false,
  recyclers: { hostPath: recycler, nfs: recycler },
};
const requests = { resources: { requests: { storage: '1Gi' } } };
const run = (base: TestContext, use: () => Promise<void> = settle): Promise<void> =>
  whileRunning(base, createPersistentVolumeBinder(base.context, options), use);

function seedPairs({ server }: TestContext, count: number): void {
  for (let index = 0; index < count; index++) {
    server.seed(PersistentVolumes, persistentVolume({ name: `volume-${index}` }));
    const spec = { ...requests, storageClassName: '' };
    server.seed(PersistentVolumeClaims, persistentVolumeClaim({ name: `claim-${index}`, spec }));
  }
}

const boundNames = ({ server }: TestContext): (string | undefined)[] =>
  server.stored(PersistentVolumeClaims).map(({ spec }) => spec.volumeName);

test('many claims at once get different volumes, with four writes each and no conflict', async () => {
  const base = createTestContext({ freeze: true });
  seedPairs(base, 40);
  await run(base);
  expect(new Set(boundNames(base)).size).toBe(40);
  expect(base.server.stored(PersistentVolumeClaims).every(({ status }) => status?.phase === 'Bound')).toBe(true);
  expect(base.server.stored(PersistentVolumes).every(({ status }) => status?.phase === 'Bound')).toBe(true);
  expect(base.client.writes).toHaveLength(160);
});

test('a bound pair costs neither a write nor a read, also with every sync of all', async () => {
  const base = createTestContext();
  seedPairs(base, 1);
  await run(base, async () => {
    const before = base.client.writes.length;
    await base.clock.advance(60_000);
    await settle();
    expect(base.client.writes).toHaveLength(before);
  });
});

test('a claim waits for the next sync of all to find a new volume', async () => {
  const base = createTestContext();
  seedPairs(base, 1);
  await base.server.delete(PersistentVolumes, objectKey(undefined, 'volume-0'), {}, signal);
  await run(base, async () => {
    expect(base.recorded.map(({ reason }) => reason)).toContain('FailedBinding');
    base.server.seed(PersistentVolumes, persistentVolume({ name: 'late' }));
    await settle();
    expect(boundNames(base)).toEqual([undefined]);
    await base.clock.advance(15_000);
    await settle();
    expect(boundNames(base)).toEqual(['late']);
  });
});

describe('a claim that is handed to a provisioner', () => {
  function seedClassed({ server }: TestContext): PersistentVolumeClaim {
    server.seed(StorageClasses, build(StorageClasses, { name: 'fast' }, { provisioner: 'example.com' }));
    const spec = { ...requests, storageClassName: 'fast' };
    return server.seed(PersistentVolumeClaims, persistentVolumeClaim({ name: 'data', spec }));
  }
  const provisionerOf = ({ server }: TestContext): string | undefined =>
    server.stored(PersistentVolumeClaims)[0]?.metadata.annotations?.['volume.kubernetes.io/storage-provisioner'];

  test('gets its name', async () => {
    const base = createTestContext();
    seedClassed(base);
    await run(base);
    expect(provisionerOf(base)).toBe('example.com');
    expect(base.recorded.map(({ reason }) => reason)).toContain('ExternalProvisioning');
  });

  test('gets its name also if its owner changes it meanwhile', async () => {
    const base = createTestContext();
    const claim = seedClassed(base);
    let changes = 1;
    base.client.before('update', async () => {
      if (changes-- < 1) return;
      const body = { metadata: { labels: { owned: 'yes' } } };
      await base.server.patch(PersistentVolumeClaims, keyOf(claim), { type: 'merge', body }, signal);
    });
    await run(base);
    expect(provisionerOf(base)).toBe('example.com');
    expect(base.recorded.map(({ reason }) => reason)).not.toContain('ProvisioningFailed');
  });
});

describe('a volume whose claim is gone', () => {
  const claimRef = { namespace: 'default', name: 'data', uid: 'gone' };
  const seedVolume = ({ server }: TestContext, spec: Partial<PersistentVolume['spec']>): PersistentVolume =>
    server.seed(
      PersistentVolumes,
      persistentVolume({ name: 'disk', spec: { claimRef, ...spec }, status: { phase: 'Bound' } }),
    );
  const phaseOf = ({ server }: TestContext): string | undefined => server.stored(PersistentVolumes)[0]?.status?.phase;

  test('is released, once the server has said so', async () => {
    const base = createTestContext();
    seedVolume(base, {});
    await run(base);
    expect(phaseOf(base)).toBe('Released');
    expect(
      base.client.actions.some(({ verb, resource }) => verb === 'get' && resource === 'persistentvolumeclaims'),
    ).toBe(true);
  });

  test('fails if nothing can delete it, and says so once', async () => {
    const base = createTestContext();
    seedVolume(base, { persistentVolumeReclaimPolicy: 'Delete', nfs: { server: 'a', path: '/' } });
    await run(base, async () => {
      await base.clock.advance(60_000);
      await settle();
    });
    expect(phaseOf(base)).toBe('Failed');
    expect(base.recorded.filter(({ reason }) => reason === 'VolumeFailedDelete')).toHaveLength(1);
  });

  test('is not recycled while a pod uses it', async () => {
    const base = createTestContext();
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
    base.server.seed(Pods, pod({ name: 'user', spec: { volumes, nodeName: 'a' } }));
    seedVolume(base, { persistentVolumeReclaimPolicy: 'Recycle', hostPath: { path: '/tmp/x' } });
    await run(base);
    expect(base.recorded.find(({ reason }) => reason === 'VolumeFailedRecycle')?.message).toBe(
      'Volume is used by pods: default/user',
    );
    expect(base.server.stored(Pods)).toHaveLength(1);
  });

  test('is recycled by a pod, and available then', async () => {
    const base = createTestContext();
    const annotations = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
    base.server.seed(
      PersistentVolumes,
      persistentVolume({
        name: 'disk',
        annotations,
        spec: { claimRef, persistentVolumeReclaimPolicy: 'Recycle', hostPath: { path: '/tmp/x' } },
        status: { phase: 'Released' },
      }),
    );
    await run(base, async () => {
      const key = objectKey('default', 'recycler-for-disk');
      const body = { status: { phase: 'Succeeded' } };
      await base.server.patch(Pods, key, { type: 'merge', subresource: 'status', body }, signal);
      await settle();
      expect(phaseOf(base)).toBe('Available');
      expect(base.server.stored(Pods)).toEqual([]);
      expect(base.recorded.map(({ reason }) => reason)).toContain('VolumeRecycled');
    });
  });

  describe('is not recycled, and fails with the reason', () => {
    const recyclerKey = objectKey('default', 'recycler-for-disk');
    const problemOf = ({ recorded }: TestContext): string | undefined =>
      recorded.find(({ reason }) => reason === 'VolumeFailedRecycle')?.message;
    const uidsOf = ({ server }: TestContext): string[] => server.stored(Pods).map(({ metadata }) => metadata.uid);

    test.each([
      {
        title: 'if its pod fails',
        change: (server: TestContext['server']) =>
          server.patch(
            Pods,
            recyclerKey,
            { type: 'merge', subresource: 'status', body: { status: { phase: 'Failed', message: 'no space' } } },
            signal,
          ),
        problem: 'Recycle failed: failed to recycle volume: no space',
      },
      {
        title: 'if its pod is deleted',
        change: (server: TestContext['server']) => server.delete(Pods, recyclerKey, {}, signal),
        problem: 'Recycle failed: failed to recycle volume: recycler pod was deleted',
      },
    ])('$title, and gets another', async ({ change, problem }) => {
      const base = createTestContext();
      seedVolume(base, { persistentVolumeReclaimPolicy: 'Recycle', hostPath: { path: '/tmp/x' } });
      await run(base, async () => {
        await settle();
        const first = base.server.stored(Pods)[0];
        await change(base.server);
        await settle();
        expect(phaseOf(base)).toBe('Failed');
        expect(problemOf(base)).toBe(problem);
        expect(uidsOf(base)).toEqual([expect.not.stringMatching(first?.metadata.uid ?? '')]);
      });
    });

    test('if nothing can recycle it', async () => {
      const base = createTestContext();
      seedVolume(base, { persistentVolumeReclaimPolicy: 'Recycle', csi: { driver: 'example.com', volumeHandle: 'x' } });
      await run(base);
      expect(phaseOf(base)).toBe('Failed');
      expect(problemOf(base)).toBe('No recycler plugin found for the volume!');
    });

    test('if its pod is refused', async () => {
      const base = createTestContext();
      base.client.before('create', () => {
        throw apiError(403, 'Forbidden');
      });
      seedVolume(base, { persistentVolumeReclaimPolicy: 'Recycle', hostPath: { path: '/tmp/x' } });
      await run(base);
      expect(phaseOf(base)).toBe('Failed');
      expect(problemOf(base)).toMatch(/^Recycle failed: unexpected error creating recycler pod: {2}\S/);
    });

    test('while there is a pod of an earlier attempt, which another replaces', async () => {
      const base = createTestContext();
      const earlier = base.server.seed(Pods, pod({ name: 'recycler-for-disk' }));
      seedVolume(base, { persistentVolumeReclaimPolicy: 'Recycle', hostPath: { path: '/tmp/x' } });
      await run(base);
      expect(problemOf(base)).toBe('Recycle failed: old recycler pod found, will retry later');
      expect(uidsOf(base)).toEqual([expect.not.stringMatching(earlier.metadata.uid)]);
    });
  });
});
