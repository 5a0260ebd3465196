import { describe, expect, test } from 'vitest';

import type { PodSpec } from '../../pkg/api/index.ts';
import { container, frozen, pod } from '../../test/support/builders.ts';
import { secretNamesOf } from './pod-secrets.ts';

describe('secretNamesOf finds a secret', () => {
  const env = [{ name: 'X', valueFrom: { secretKeyRef: { name: 'a', key: 'k' } } }];
  const secretRef = { name: 'a' };
  const rows: readonly { readonly name: string; readonly spec: Partial<PodSpec> }[] = [
    { name: 'that images are pulled with', spec: { imagePullSecrets: [secretRef] } },
    { name: 'in a variable', spec: { containers: [container({ env })] } },
    { name: 'in all variables', spec: { containers: [container({ envFrom: [{ secretRef }] })] } },
    { name: 'in an init container', spec: { initContainers: [container({ env })] } },
    { name: 'in an ephemeral container', spec: { ephemeralContainers: [container({ env })] } },
    { name: 'in a volume', spec: { volumes: [{ name: 'v', secret: { secretName: 'a' } }] } },
    {
      name: 'in a projected volume',
      spec: { volumes: [{ name: 'v', projected: { sources: [{ secret: secretRef }] } }] },
    },
    {
      name: 'of a CSI driver',
      spec: { volumes: [{ name: 'v', csi: { driver: 'd', nodePublishSecretRef: secretRef } }] },
    },
    { name: 'of a file share', spec: { volumes: [{ name: 'v', azureFile: { secretName: 'a', shareName: 's' } }] } },
    { name: 'of Ceph', spec: { volumes: [{ name: 'v', cephfs: { monitors: [], secretRef } }] } },
    { name: 'of Cinder', spec: { volumes: [{ name: 'v', cinder: { volumeID: 'x', secretRef } }] } },
    { name: 'of a flex volume', spec: { volumes: [{ name: 'v', flexVolume: { driver: 'd', secretRef } }] } },
    {
      name: 'of iSCSI',
      spec: { volumes: [{ name: 'v', iscsi: { iqn: 'i', lun: 0, targetPortal: 't', secretRef } }] },
    },
    { name: 'of a block device', spec: { volumes: [{ name: 'v', rbd: { image: 'i', monitors: [], secretRef } }] } },
    { name: 'of ScaleIO', spec: { volumes: [{ name: 'v', scaleIO: { gateway: 'g', system: 's', secretRef } }] } },
    { name: 'of StorageOS', spec: { volumes: [{ name: 'v', storageos: { secretRef } }] } },
  ];
  for (const { name, spec } of rows) {
    test(name, () => expect(secretNamesOf(frozen(pod({ spec })))).toEqual(['a']));
  }

  test('and none where there is none', () => {
    const volumes = [
      { name: 'v', emptyDir: {} },
      { name: 'w', cephfs: { monitors: [] } },
    ];
    expect(secretNamesOf(frozen(pod({ spec: { volumes, imagePullSecrets: [{}] } })))).toEqual([]);
  });
});
