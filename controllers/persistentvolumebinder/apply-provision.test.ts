import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';

import {
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '../../pkg/api/index.ts';
import { build, persistentVolumeClaim } from '../../test/support/builders.ts';
import { createTestContext, type TestContext } from '../../test/support/controller-context.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { FakeInformer } from '../../test/support/fake-informer.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { applyHostPath, type ProvisionDeps } from './apply-provision.ts';
import { Latest } from './latest.ts';
import { defineBinderMetrics } from './metrics.ts';
import { VolumeIndex } from './volume-index.ts';

const signal = new AbortController().signal;
const storageClass = build(StorageClasses, { name: 'host' }, { provisioner: 'kubernetes.io/host-path' });

/** A clock that never waits, and remembers how long it should have. */
class HastyClock extends FakeClock {
  readonly sleptMs: number[] = [];

  override async sleep(ms: number): Promise<void> {
    this.sleptMs.push(ms);
  }
}

let base: TestContext;
let clock: HastyClock;
/** The directories of the volumes that were tried to be created. */
let paths: string[];
beforeEach(() => {
  base = createTestContext();
  clock = new HastyClock();
  paths = [];
});
afterEach(async () => {
  for (const path of paths) await rm(path, { recursive: true, force: true });
});

function depsOf({ client, context }: TestContext): ProvisionDeps {
  return {
    client,
    clock,
    recorder: context.recorderFor(''),
    metrics: defineBinderMetrics(context.metrics),
    claims: new Latest<PersistentVolumeClaim>(new FakeInformer(PersistentVolumeClaims, []).store, clock),
    volumes: new Latest<PersistentVolume>(new FakeInformer(PersistentVolumes, []).store, clock),
    index: new VolumeIndex({ attributesClasses: true }),
    nodes: { get: () => undefined },
    isHostPathEnabled: true,
    enqueueClaim: () => undefined,
    startOperation: () => undefined,
  };
}

/** Provisions. The first `refusals` of the volume end with this error. */
async function provision(refusals: number, refusal: Error): Promise<void> {
  let left = refusals;
  base.client.before('create', ({ body }) => {
    paths.push((body as PersistentVolume).spec.hostPath?.path ?? '');
    if (left-- > 0) throw refusal;
  });
  const spec = { resources: { requests: { storage: '1Gi' } }, storageClassName: 'host' };
  const claim = base.server.seed(PersistentVolumeClaims, persistentVolumeClaim({ name: 'data', spec }));
  await applyHostPath(claim, storageClass, depsOf(base), signal);
}

const unavailable = apiError(503, 'ServiceUnavailable');
const tenSeconds = 10_000;

test('a volume that is refused five times is deleted again', async () => {
  await provision(Infinity, unavailable);
  expect(paths).toHaveLength(5);
  expect(new Set(paths).size).toBe(1);
  expect(clock.sleptMs).toEqual(Array.from({ length: 5 }, () => tenSeconds));
  expect(base.recorded.map(({ reason }) => reason)).toEqual(['ProvisioningFailed']);
  expect(base.recorded[0]?.message).toMatch(
    /^Error creating provisioned PV object for claim default\/data: .*\. Deleting the volume\.$/,
  );
  expect(paths.filter((path) => existsSync(path))).toEqual([]);
});

test.each([
  { title: 'that is refused four times', refusals: 4, refusal: unavailable, waits: 4 },
  { title: 'that an earlier attempt has created', refusals: 1, refusal: apiError(409, 'AlreadyExists'), waits: 0 },
])('a volume $title is provisioned', async ({ refusals, refusal, waits }) => {
  await provision(refusals, refusal);
  expect(clock.sleptMs).toHaveLength(waits);
  expect(base.recorded.map(({ reason }) => reason)).toEqual(['ProvisioningSucceeded']);
  expect(paths.every((path) => existsSync(path))).toBe(true);
});
