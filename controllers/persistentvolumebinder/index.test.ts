import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { PersistentVolumes, Pods, type Pod } from '../../pkg/api/index.ts';
import { persistentVolume } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning } from '../../test/support/controller-context.ts';
import { persistentVolumeBinder } from './index.ts';

const templateOf = (owner: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'system', labels: { owner } },
    spec: { containers: [{ name: 'main', image: owner }], volumes: [{ name: 'vol' }] },
  });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recyclers-'));
  for (const owner of ['nfs', 'hostpath']) await writeFile(join(folder, owner), templateOf(owner));
});
afterAll(() => rm(folder, { recursive: true }));

/** The pod that recycles a released volume of 10 GiB. */
async function recyclerOf(source: object, flags: Readonly<Record<string, string>>): Promise<Pod | undefined> {
  const base = createTestContext();
  const claimRef = { namespace: 'default', name: 'data', uid: 'gone' };
  const capacity = { storage: '10Gi' };
  const spec = { claimRef, capacity, persistentVolumeReclaimPolicy: 'Recycle', ...source };
  base.server.seed(PersistentVolumes, persistentVolume({ name: 'disk', spec, status: { phase: 'Released' } }));
  const given = new Map(Object.entries(flags).map(([name, value]) => [name, [value]]));
  let pod: Pod | undefined;
  await whileRunning(base, persistentVolumeBinder.bind(given)(base.context), async () => {
    await settle();
    [pod] = base.server.stored(Pods);
  });
  return pod;
}

const sources = {
  nfs: { nfs: { server: 'a', path: '/' } },
  hostpath: { hostPath: { path: '/tmp/x' } },
};
const [increment, minimum] = ['pv-recycler-increment-timeout-nfs', 'pv-recycler-minimum-timeout-nfs'];
const [incrementHost, minimumHost] = ['pv-recycler-timeout-increment-hostpath', 'pv-recycler-minimum-timeout-hostpath'];

describe('the flags of recyclers: the deadline of the pod', () => {
  test.each<['nfs' | 'hostpath', string, Record<string, string>, number]>([
    ['nfs', 'is five minutes', {}, 300],
    ['hostpath', 'is half a minute for each GiB', {}, 300],
    ['nfs', 'has a minimum', { [minimum]: '4000', [minimumHost]: '5000' }, 4000],
    ['hostpath', 'has a minimum', { [minimum]: '4000', [minimumHost]: '5000' }, 5000],
    ['nfs', 'grows with the volume', { [increment]: '40', [incrementHost]: '50' }, 400],
    ['hostpath', 'grows with the volume', { [increment]: '40', [incrementHost]: '50' }, 500],
    ['nfs', 'has its own minimum by default', { [increment]: '1', [incrementHost]: '1' }, 300],
    ['hostpath', 'has its own minimum by default', { [increment]: '1', [incrementHost]: '1' }, 60],
  ])('of %s %s', async (plugin, _what, flags, expected) => {
    const pod = await recyclerOf(sources[plugin], flags);
    expect(pod?.spec.activeDeadlineSeconds).toBe(expected);
  });
});

test.each(['nfs', 'hostpath'] as const)('the template of %s is that of its file', async (plugin) => {
  const flags = Object.fromEntries(
    ['nfs', 'hostpath'].map((each) => [`pv-recycler-pod-template-filepath-${each}`, join(folder, each)]),
  );
  const pod = await recyclerOf(sources[plugin], flags);
  expect(pod?.metadata).toMatchObject({ namespace: 'system', labels: { owner: plugin } });
});
