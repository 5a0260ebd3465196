import { defineController } from '../../pkg/controller/index.ts';
import { createPodGroupProtection } from './pod-group-protection.ts';

export const podGroupProtection = defineController({
  name: 'podgroup-protection-controller',
  requiredGates: ['GenericWorkload'],
  create: createPodGroupProtection,
});
