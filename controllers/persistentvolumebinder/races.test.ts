import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import {
  keyOf,
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
  isHostPathEnabled: true,
  recyclers: { hostPath: recycler, nfs: recycler },
};
const run = (base: TestContext, use: () => Promise<void>): Promise<void> =>
  whileRunning(base, createPersistentVolumeBinder(base.context, options), use);

let base: TestContext;
let path: string;
beforeEach(async () => {
  base = createTestContext();
  path = await mkdtemp('/tmp/binder-');
});
afterEach(() => rm(path, { recursive: true, force: true }));

/** The work of the plugin is real, and so its time is. */
async function until(isSo: () => boolean): Promise<void> {
  await expect
    .poll(async () => {
      await settle();
      return isSo();
    })
    .toBe(true);
}

const claimRef = { namespace: 'default', name: 'data', uid: 'gone' };

function seedReleased(policy: string, metadata: object = {}): PersistentVolume {
  const spec = { claimRef, persistentVolumeReclaimPolicy: policy, hostPath: { path } };
  const annotations = { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/host-path' };
  const described = { name: 'disk', annotations, metadata, spec, status: { phase: 'Released' } };
  return base.server.seed(PersistentVolumes, persistentVolume(described));
}

const deletesOf = (resource: string): unknown[] =>
  base.client.writes.filter((action) => action.verb === 'delete' && action.resource === resource);

describe('a volume whose deletion begins', () => {
  const finalizers = ['kubernetes.io/pv-controller', 'example.com/keep'];

  test('while it is terminating loses its directory and our finalizer, and is not deleted again', async () => {
    seedReleased('Delete', { finalizers, deletionTimestamp: '2026-01-01T00:00:00Z' });
    await run(base, async () => {
      await until(() => !existsSync(path));
      await until(() => base.server.stored(PersistentVolumes)[0]?.metadata.finalizers?.length === 1);
    });
    expect(base.server.stored(PersistentVolumes)[0]?.metadata.finalizers).toEqual(['example.com/keep']);
    expect(deletesOf('persistentvolumes')).toEqual([]);
  });

  test('while it is not terminating loses them, and is deleted', async () => {
    seedReleased('Delete', { finalizers });
    await run(base, () => until(() => deletesOf('persistentvolumes').length > 0));
    expect(existsSync(path)).toBe(false);
  });
});

describe('a volume that is to be recycled while pods use a claim of the name', () => {
  const user = pod({
    name: 'user',
    spec: { nodeName: 'a', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
  });
  const recyclers = (): string[] =>
    base.server
      .stored(Pods)
      .map(({ metadata }) => metadata.name)
      .filter((name) => name !== 'user');

  test('waits for the pods if the claim is gone: they are its pods', async () => {
    base.server.seed(Pods, user);
    seedReleased('Recycle');
    await run(base, settle);
    expect(recyclers()).toEqual([]);
  });

  test('is recycled if there is another claim of the name: the pods use that one', async () => {
    base.server.seed(Pods, user);
    base.server.seed(PersistentVolumeClaims, persistentVolumeClaim({ name: 'data', spec: { volumeName: 'other' } }));
    seedReleased('Recycle');
    await run(base, settle);
    expect(recyclers()).toEqual(['recycler-for-disk']);
  });
});

describe('a claim that is deleted while its volume is made', () => {
  function seedClaim(provisioner: string): PersistentVolumeClaim {
    base.server.seed(StorageClasses, build(StorageClasses, { name: 'made' }, { provisioner, reclaimPolicy: 'Delete' }));
    const spec = { resources: { requests: { storage: '1Gi' } }, storageClassName: 'made' };
    return base.server.seed(PersistentVolumeClaims, persistentVolumeClaim({ name: 'data', spec }));
  }

  test('leaves neither a volume nor a directory', async () => {
    const claim = seedClaim('kubernetes.io/host-path');
    const paths: string[] = [];
    base.client.before('create', async ({ body, resource }) => {
      if (resource !== 'persistentvolumes') return;
      paths.push((body as PersistentVolume).spec.hostPath?.path ?? '');
      await base.server.delete(PersistentVolumeClaims, keyOf(claim), {}, signal);
    });
    await run(base, async () => {
      await until(() => paths.length > 0 && deletesOf('persistentvolumes').length > 0);
    });
    expect(paths).toHaveLength(1);
    expect(paths.filter((each) => existsSync(each))).toEqual([]);
  });

  test('is not handed to a provisioner, and not tried again', async () => {
    const claim = seedClaim('example.com');
    base.client.before('update', async () => {
      await base.server.delete(PersistentVolumeClaims, keyOf(claim), {}, signal).catch(() => undefined);
    });
    await run(base, async () => {
      await settle();
      await base.clock.advance(60_000);
      await settle();
    });
    expect(base.client.writes.filter(({ verb }) => verb === 'update')).toHaveLength(1);
    expect(base.recorded.map(({ reason }) => reason)).not.toContain('ExternalProvisioning');
  });
});

describe('the default class for a claim without class', () => {
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const counts = async (): Promise<string[]> =>
    (await base.context.metrics.metrics())
      .split('\n')
      .filter((line) => line.startsWith('retroactive_storageclass_'))
      .sort();

  function seedUnclassed(): void {
    const storageClass = build(
      StorageClasses,
      { name: 'usual', annotations: isDefault },
      { provisioner: 'example.com' },
    );
    base.server.seed(StorageClasses, storageClass);
    const spec = { resources: { requests: { storage: '1Gi' } } };
    base.server.seed(PersistentVolumeClaims, persistentVolumeClaim({ name: 'data', spec }));
  }
  const classOf = (): string | undefined => base.server.stored(PersistentVolumeClaims)[0]?.spec.storageClassName;

  test('is assigned and counted', async () => {
    seedUnclassed();
    await run(base, settle);
    expect(classOf()).toBe('usual');
    expect(await counts()).toEqual(['retroactive_storageclass_errors_total 0', 'retroactive_storageclass_total 1']);
  });

  test('counts every attempt, and those that failed', async () => {
    seedUnclassed();
    let refusals = 1;
    base.client.before('update', () => {
      if (refusals-- > 0) throw apiError(503, 'ServiceUnavailable');
    });
    await run(base, async () => {
      await settle();
      await base.clock.advance(15_000);
      await settle();
    });
    expect(classOf()).toBe('usual');
    expect(await counts()).toEqual(['retroactive_storageclass_errors_total 1', 'retroactive_storageclass_total 2']);
  });
});
