import { describe, expect, test } from 'vitest';

import { keyOf, PersistentVolumeClaims, Pods, type Pod } from '../../pkg/api/index.ts';
import { persistentVolumeClaim, pod } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning } from '../../test/support/controller-context.ts';
import { createClaimProtection } from './claim-protection.ts';

const signal = new AbortController().signal;
const finalizers = ['kubernetes.io/pvc-protection'];
const deletionTimestamp = '2026-01-01T00:00:00Z';
const user = (name: string, claimName: string, nodeName = 'node'): Pod =>
  pod({ name, spec: { nodeName, volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] } });

describe('a claim that is being deleted', () => {
  test('costs no list of its own when many are deleted together', async () => {
    const base = createTestContext();
    const names = Array.from({ length: 1000 }, (_, index) => `claim-${index}`);
    for (const name of names) {
      base.server.seed(
        PersistentVolumeClaims,
        persistentVolumeClaim({ name, metadata: { finalizers, deletionTimestamp } }),
      );
      base.server.seed(Pods, user(`other-${name}`, 'used'));
    }
    await whileRunning(base, createClaimProtection(base.context), async () => {
      while (base.server.stored(PersistentVolumeClaims).length > 0) await settle();
    });
    expect(base.client.actions.filter(({ verb }) => verb === 'list')).toHaveLength(1);
    expect(base.client.writes).toHaveLength(1000);
  });

  test('stays for a pod that only the server knows of, and goes after it', async () => {
    const base = createTestContext();
    const claim = persistentVolumeClaim({ name: 'data', metadata: { finalizers, deletionTimestamp } });
    base.server.seed(PersistentVolumeClaims, claim);
    const hidden = user('user', 'data');
    let isHidden = true;
    base.client.before('list', () => {
      if (isHidden) base.server.seed(Pods, hidden); // bound after the cache was read
    });
    await whileRunning(base, createClaimProtection(base.context), async () => {
      await settle();
      expect(base.client.writes).toEqual([]);
      isHidden = false;
      await base.server.delete(Pods, keyOf(hidden), { gracePeriodSeconds: 0 }, signal);
      await settle();
      await base.clock.advance(1000);
      await settle();
      expect(base.server.stored(PersistentVolumeClaims)).toEqual([]);
    });
  });

  test('is not asked for while a pod changes that still uses it', async () => {
    const base = createTestContext();
    const claim = persistentVolumeClaim({ name: 'data', metadata: { finalizers, deletionTimestamp } });
    base.server.seed(PersistentVolumeClaims, claim);
    base.server.seed(Pods, user('user', 'data'));
    await whileRunning(base, createClaimProtection(base.context), async () => {
      await settle();
      const [present = user('user', 'data')] = base.server.stored(Pods);
      await base.server.updateStatus(Pods, { ...present, status: { phase: 'Succeeded' } }, signal);
      await settle();
      expect(base.client.actions).toEqual([]);
    });
  });
});

describe('with its gate, a claim says', () => {
  test('whether a pod uses it, and since when', async () => {
    const base = createTestContext();
    const context = { ...base.context, gates: { isEnabled: () => true } };
    const claim = persistentVolumeClaim({ name: 'data', metadata: { finalizers } });
    base.server.seed(PersistentVolumeClaims, claim);
    const said = (): unknown =>
      base.server.stored(PersistentVolumeClaims)[0]?.status?.conditions?.map(({ status }) => status);
    await whileRunning(base, createClaimProtection(context), async () => {
      expect(said()).toEqual(['True']);
      base.server.seed(Pods, user('user', 'data', ''));
      await settle();
      expect(said()).toEqual(['False']);
      await base.server.delete(Pods, keyOf(user('user', 'data')), { gracePeriodSeconds: 0 }, signal);
      await settle();
      expect(said()).toEqual(['True']);
    });
    expect(base.client.actions.filter(({ verb }) => verb === 'list')).toHaveLength(2);
  });
});
