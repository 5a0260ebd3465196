import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createDeploymentController } from './deployment.ts';

export const deployment = defineController({
  name: 'deployment-controller',
  aliases: ['deployment'],
  flags: {
    'concurrent-deployment-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      config: 'DeploymentController.ConcurrentDeploymentSyncs',
      help: 'Deployments that may sync at the same time',
    }),
  },
  create: (context, options) => createDeploymentController(context, options['concurrent-deployment-syncs']),
});
