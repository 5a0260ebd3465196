import { defineController } from '../../pkg/controller/index.ts';
import { createDisruptionController } from './disruption.ts';

export const disruption = defineController({
  name: 'disruption-controller',
  aliases: ['disruption'],
  create: createDisruptionController,
});
