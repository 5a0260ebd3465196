import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createResourceClaimController } from './resource-claim.ts';

export const resourceClaim = defineController({
  name: 'resourceclaim-controller',
  aliases: ['resource-claim-controller'],
  requiredGates: ['DynamicResourceAllocation'],
  flags: {
    'concurrent-resourceclaim-syncs': flag('int32', {
      default: 50,
      check: atLeast(1),
      config: 'ResourceClaimController.ConcurrentSyncs',
      help: 'ResourceClaims that may sync at the same time',
    }),
  },
  create: (context, options) => createResourceClaimController(context, options['concurrent-resourceclaim-syncs']),
});
