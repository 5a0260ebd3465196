import { expect, test } from 'vitest';
import { csiDriverOf, isInTreeName } from './index.ts';

test.each([
  ['kubernetes.io/aws-ebs', 'ebs.csi.aws.com'],
  ['kubernetes.io/portworx-volume', 'pxd.portworx.com'],
  ['kubernetes.io/host-path', undefined],
  ['example.com/disk', undefined],
  ['constructor', undefined],
])('the driver of %s is %s', (plugin, driver) => expect(csiDriverOf(plugin)).toBe(driver));

test.each([
  ['kubernetes.io/no-provisioner', true],
  ['example.com/kubernetes.io/disk', false],
])('%s is in-tree: %s', (provisioner, expected) => expect(isInTreeName(provisioner)).toBe(expected));
