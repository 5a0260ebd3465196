import { describe, expect, test } from 'vitest';

import { PersistentVolumes, type PersistentVolume, type PersistentVolumeClaim } from '../../pkg/api/index.ts';
import { build, persistentVolumeClaim } from '../../test/support/builders.ts';
import { hasGrown, planExpansion } from './expansion.ts';

function claimOf(request: string | undefined, capacity?: string): PersistentVolumeClaim {
  const spec = { resources: { requests: request === undefined ? {} : { storage: request } } };
  const status = { phase: 'Bound', ...(capacity !== undefined && { capacity: { storage: capacity } }) };
  return persistentVolumeClaim({ name: 'data', spec, status });
}

function volumeOf(
  source: Partial<PersistentVolume['spec']>,
  annotations: Record<string, string> = {},
): PersistentVolume {
  const { uid, namespace, name } = claimOf('1Gi').metadata;
  const spec = { claimRef: { uid, namespace, name }, ...source };
  return build<PersistentVolume>(PersistentVolumes, { name: 'pv', metadata: { annotations } }, { spec });
}

const csi = { csi: { driver: 'd', volumeHandle: 'h' } };
const external = { kind: 'external', message: 'waiting for an external controller to expand this PVC' };

describe('planExpansion', () => {
  const rows = [
    {
      name: 'a volume of the requested size stays',
      claim: claimOf('1Gi', '1024Mi'),
      volume: volumeOf(csi),
      kind: 'none',
    },
    { name: 'a larger volume stays', claim: claimOf('1Gi', '2Gi'), volume: volumeOf(csi), kind: 'none' },
    { name: 'a claim that requests nothing stays', claim: claimOf(undefined), volume: volumeOf(csi), kind: 'none' },
    {
      name: 'a volume of another claim is not expanded',
      claim: claimOf('2Gi', '1Gi'),
      volume: volumeOf({ ...csi, claimRef: { namespace: 'default', name: 'data', uid: 'other' } }),
      kind: 'unbound',
    },
  ];
  for (const { name, claim, volume, kind } of rows) {
    test(name, () => expect(planExpansion(claim, volume)).toEqual({ kind }));
  }

  test('somebody else expands the volumes of CSI drivers', () => {
    expect(planExpansion(claimOf('2Gi', '1Gi'), volumeOf(csi))).toEqual(external);
  });

  test('a node that has not finished is worth an event too', () => {
    const annotations = { 'volume.alpha.kubernetes.io/pre-resize-capacity': '1Gi' };
    expect(planExpansion(claimOf('1Gi', '1Gi'), volumeOf(csi, annotations))).toEqual(external);
  });

  test('the driver that took over from a plugin is named', () => {
    const volume = volumeOf({ vsphereVolume: { volumePath: 'p' } });
    const message =
      'CSI migration enabled for kubernetes.io/vsphere-volume; waiting for external resizer to expand the pvc';
    expect(planExpansion(claimOf('2Gi'), volume)).toEqual({
      kind: 'external',
      message,
      resizer: 'csi.vsphere.vmware.com',
    });
  });
});

test.each([
  ['a larger request', claimOf('1Gi', '1Gi'), claimOf('2Gi', '1Gi'), true],
  ['a larger capacity', claimOf('2Gi', '1Gi'), claimOf('2Gi', '2Gi'), true],
  ['a smaller request', claimOf('2Gi', '1Gi'), claimOf('1Gi', '1Gi'), false],
  ['the same in other words', claimOf('1Gi', '1Gi'), claimOf('1024Mi', '1048576Ki'), false],
])('%s is growth: %#', (_name, before, after, expected) => expect(hasGrown(before, after)).toBe(expected));
