import { defineController } from '../../pkg/controller/index.ts';
import { createPoolStatusController } from './pool-status-request.ts';

export const resourcePoolStatusRequest = defineController({
  name: 'resourcepoolstatusrequest-controller',
  requiredGates: ['DRAResourcePoolStatus'],
  create: createPoolStatusController,
});
