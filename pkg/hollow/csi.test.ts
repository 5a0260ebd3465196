import { describe, expect, test } from 'vitest';

import { CSINodes, VolumeAttachments, type VolumeAttachment } from '../api/index.ts';
import { build, creationTime, node } from '../../test/support/builders.ts';
import { buildCsiNode, planAttachmentPatch } from './csi.ts';

const finalizer = 'external-attacher/disk-example-com';
const spec = { attacher: 'disk.example.com', nodeName: 'a', source: { persistentVolumeName: 'pv' } };
const attachment = (metadata: object, status?: VolumeAttachment['status']): VolumeAttachment =>
  build<VolumeAttachment>(VolumeAttachments, { name: 'x', metadata }, { spec, ...(status && { status }) });

describe('planAttachmentPatch', () => {
  const rows = [
    { name: 'the finalizer comes first', given: attachment({}), expected: { finalizers: [finalizer] } },
    { name: 'an attached volume stays', given: attachment({ finalizers: [finalizer] }, { attached: true }) },
    {
      name: 'the finalizer goes at last, those of others stay',
      given: attachment({ finalizers: ['a/b', finalizer], deletionTimestamp: creationTime }, { attached: true }),
      expected: { finalizers: ['a/b'] },
    },
    {
      name: 'what others keep is left alone',
      given: attachment({ finalizers: ['a/b'], deletionTimestamp: creationTime }),
    },
  ];
  for (const { name, given, expected } of rows) {
    test(name, () => {
      const { resourceVersion } = given.metadata;
      expect(planAttachmentPatch(given)?.body).toEqual(expected && { metadata: { resourceVersion, ...expected } });
    });
  }

  test('a volume is attached after an error too', () => {
    const given = attachment({ finalizers: [finalizer] }, { attached: false, attachError: { message: 'no' } });
    expect(planAttachmentPatch(given)).toEqual({
      type: 'merge',
      body: { status: { attached: true, attachError: null } },
      subresource: 'status',
    });
  });
});

test('the CSINode belongs to its node', () => {
  const { kind, metadata } = buildCsiNode(node({ name: 'a' }));
  expect(kind).toBe(CSINodes.kind);
  expect(metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: 'a' }]);
});
