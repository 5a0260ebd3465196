import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createTtlAfterFinishedController } from './ttl-after-finished.ts';

export const ttlAfterFinished = defineController({
  name: 'ttl-after-finished-controller',
  aliases: ['ttl-after-finished'],
  flags: {
    'concurrent-ttl-after-finished-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      config: 'TTLAfterFinishedController.ConcurrentTTLSyncs',
      help: 'Finished Jobs that may sync at the same time',
    }),
  },
  create: (context, options) =>
    createTtlAfterFinishedController(context, options['concurrent-ttl-after-finished-syncs']),
});
