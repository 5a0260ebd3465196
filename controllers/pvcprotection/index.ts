import { defineController } from '../../pkg/controller/index.ts';
import { createClaimProtection } from './claim-protection.ts';

export const claimProtection = defineController({
  name: 'persistentvolumeclaim-protection-controller',
  aliases: ['pvc-protection'],
  create: createClaimProtection,
});
