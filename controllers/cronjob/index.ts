import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createCronJobController } from './cron-job.ts';

export const cronJob = defineController({
  name: 'cronjob-controller',
  aliases: ['cronjob'],
  options: z.strictObject({
    'concurrent-cron-job-syncs': z.coerce.number().int().min(1).default(5).describe('CronJobs that may sync at once'),
  }),
  create: (context, options) =>
    createCronJobController(context, {
      workers: options['concurrent-cron-job-syncs'],
      localTimeZone: () => new Intl.DateTimeFormat().resolvedOptions().timeZone,
    }),
});
