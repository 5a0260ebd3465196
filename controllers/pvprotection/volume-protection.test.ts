import { expect, test } from 'vitest';

import { PersistentVolumes } from '../../pkg/api/index.ts';
import { build } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning } from '../../test/support/controller-context.ts';
import { createVolumeProtection } from './volume-protection.ts';

const finalizers = ['kubernetes.io/pv-protection'];
const deletionTimestamp = '2026-01-01T00:00:00Z';
const signal = new AbortController().signal;

test('a volume goes once it is no longer bound, and one that stays has the finalizer', async () => {
  const base = createTestContext();
  const seed = (name: string, metadata: object, phase: string) =>
    base.server.seed(PersistentVolumes, build(PersistentVolumes, { name, metadata }, { spec: {}, status: { phase } }));
  const bound = seed('bound', { finalizers, deletionTimestamp }, 'Bound');
  seed('released', { finalizers, deletionTimestamp }, 'Released');
  seed('old', { finalizers: ['example.com/keep'] }, 'Bound');
  const left = () => base.server.stored(PersistentVolumes).map(({ metadata }) => [metadata.name, metadata.finalizers]);
  await whileRunning(base, createVolumeProtection(base.context), async () => {
    expect(left()).toEqual([
      ['bound', finalizers],
      ['old', ['example.com/keep', ...finalizers]],
    ]);
    await base.server.updateStatus(PersistentVolumes, { ...bound, status: { phase: 'Released' } }, signal);
    await settle();
    expect(left()).toEqual([['old', ['example.com/keep', ...finalizers]]]);
  });
});
