import { defineController } from '../../pkg/controller/index.ts';
import { createVolumeProtection } from './volume-protection.ts';

export const volumeProtection = defineController({
  name: 'persistentvolume-protection-controller',
  aliases: ['pv-protection'],
  create: createVolumeProtection,
});
