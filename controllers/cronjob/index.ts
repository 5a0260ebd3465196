import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createCronJobController } from './cron-job.ts';

export const cronJob = defineController({
  name: 'cronjob-controller',
  aliases: ['cronjob'],
  flags: {
    'concurrent-cron-job-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      config: 'CronJobController.ConcurrentCronJobSyncs',
      help: 'CronJobs that may sync at the same time',
    }),
  },
  create: (context, options) =>
    createCronJobController(context, {
      workers: options['concurrent-cron-job-syncs'],
      localTimeZone: () => new Intl.DateTimeFormat().resolvedOptions().timeZone,
    }),
});
