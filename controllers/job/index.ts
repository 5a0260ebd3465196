import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createJobController } from './job.ts';

export const job = defineController({
  name: 'job-controller',
  aliases: ['job'],
  flags: {
    'concurrent-job-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      config: 'JobController.ConcurrentJobSyncs',
      help: 'Jobs that may sync at the same time',
    }),
  },
  create: (context, options) => createJobController(context, options['concurrent-job-syncs']),
});
