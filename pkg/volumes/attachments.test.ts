import { expect, test } from 'vitest';

import { attachmentName, csiUniqueName, splitCsiUniqueName } from './index.ts';

test('the name of a VolumeAttachment is a hash of handle, driver and node', () => {
  // printf 'vol-1ebs.csi.aws.comnode-1' | sha256sum
  expect(attachmentName('ebs.csi.aws.com', 'vol-1', 'node-1')).toBe(
    'csi-58932ddfc9a6504f794af09a26429db947138ba3d683dee3d975aa932cb39f48',
  );
});

test('a handle may have any characters', () => {
  const handle = 'a^b/c#d';
  expect(splitCsiUniqueName(csiUniqueName('driver', handle))).toEqual({ driver: 'driver', volumeHandle: handle });
  expect(splitCsiUniqueName('kubernetes.io/iscsi/portal:iqn:1')).toBeUndefined();
});
