import { expect, test } from 'vitest';

import { keyOf, PersistentVolumeClaims, PersistentVolumes, VolumeAttributesClasses } from '../../pkg/api/index.ts';
import { build, persistentVolumeClaim } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning } from '../../test/support/controller-context.ts';
import { createAttributesClassProtection } from './attributes-class-protection.ts';

const finalizers = ['kubernetes.io/vac-protection'];
const deletionTimestamp = '2026-01-01T00:00:00Z';
const signal = new AbortController().signal;

test('a class goes with the last claim or volume that refers to it', async () => {
  const base = createTestContext();
  for (const name of ['of-claim', 'of-volume', 'unused', 'constructor']) {
    const metadata = { finalizers, deletionTimestamp };
    base.server.seed(
      VolumeAttributesClasses,
      build(VolumeAttributesClasses, { name, metadata }, { driverName: 'example.com' }),
    );
  }
  const claim = base.server.seed(
    PersistentVolumeClaims,
    persistentVolumeClaim({ spec: { volumeAttributesClassName: 'of-claim' } }),
  );
  const volume = base.server.seed(
    PersistentVolumes,
    build(PersistentVolumes, {}, { spec: { volumeAttributesClassName: 'of-volume' } }),
  );
  const left = () => base.server.stored(VolumeAttributesClasses).map(({ metadata }) => metadata.name);
  await whileRunning(base, createAttributesClassProtection(base.context), async () => {
    expect(left()).toEqual(['of-claim', 'of-volume']);
    const changed = { ...claim, spec: { ...claim.spec, volumeAttributesClassName: 'other' } };
    await base.server.update(PersistentVolumeClaims, changed, signal);
    await settle();
    expect(left()).toEqual(['of-volume']);
    await base.server.delete(PersistentVolumes, keyOf(volume), {}, signal);
    await settle();
    expect(left()).toEqual([]);
  });
});
