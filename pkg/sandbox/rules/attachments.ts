import { isEqualJson, type CSIDriver, type VolumeAttachment } from '../../api/index.ts';
import { defineRules, immutable } from './rules.ts';

export const volumeAttachmentRules = defineRules<VolumeAttachment>({
  returnsDeleted: true,
  beforeCreate(attachment) {
    attachment.status = { attached: false };
  },
  validateUpdate({ spec }, old) {
    return immutable('spec', isEqualJson(spec, old.spec), spec);
  },
});

export const csiDriverRules = defineRules<CSIDriver>({
  returnsDeleted: true,
  defaults({ spec }) {
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent'];
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
  },
});

export const csiNodeRules = defineRules({ returnsDeleted: true });
