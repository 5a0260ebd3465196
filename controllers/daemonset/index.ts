import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createDaemonSetController } from './daemon-set.ts';

export const daemonSet = defineController({
  name: 'daemonset-controller',
  aliases: ['daemonset'],
  flags: {
    'concurrent-daemonset-syncs': flag('int32', {
      default: 2,
      check: atLeast(1),
      config: 'DaemonSetController.ConcurrentDaemonSetSyncs',
      help: 'DaemonSets that may sync at the same time',
    }),
  },
  create: (context, options) => createDaemonSetController(context, options['concurrent-daemonset-syncs']),
});
