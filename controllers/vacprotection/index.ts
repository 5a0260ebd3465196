import { defineController } from '../../pkg/controller/index.ts';
import { createAttributesClassProtection } from './attributes-class-protection.ts';

export const attributesClassProtection = defineController({
  name: 'volumeattributesclass-protection-controller',
  requiredGates: ['VolumeAttributesClass'],
  create: createAttributesClassProtection,
});
