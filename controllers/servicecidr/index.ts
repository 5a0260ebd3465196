import { defineController } from '../../pkg/controller/index.ts';
import { createServiceCidrController } from './service-cidr.ts';

export const serviceCidr = defineController({
  name: 'service-cidr-controller',
  requiredGates: ['MultiCIDRServiceAllocator'],
  create: createServiceCidrController,
});
