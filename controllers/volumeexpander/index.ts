import { defineController } from '../../pkg/controller/index.ts';
import { createVolumeExpander } from './volume-expander.ts';

export const volumeExpander = defineController({
  name: 'persistentvolume-expander-controller',
  aliases: ['persistentvolume-expander'],
  create: createVolumeExpander,
});
