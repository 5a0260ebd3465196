import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createJobController } from './job.ts';

export const job = defineController({
  name: 'job-controller',
  aliases: ['job'],
  options: z.strictObject({
    'concurrent-job-syncs': z.coerce.number().int().min(1).default(5).describe('Jobs that may sync at once'),
  }),
  create: (context, options) => createJobController(context, options['concurrent-job-syncs']),
});
