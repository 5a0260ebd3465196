import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createDeploymentController } from './deployment.ts';

export const deployment = defineController({
  name: 'deployment-controller',
  aliases: ['deployment'],
  options: z.strictObject({
    'concurrent-deployment-syncs': z.coerce
      .number()
      .int()
      .min(1)
      .default(5)
      .describe('Deployments that may sync at once'),
  }),
  create: (context, options) => createDeploymentController(context, options['concurrent-deployment-syncs']),
});
