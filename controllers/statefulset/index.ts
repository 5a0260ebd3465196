import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createStatefulSetController } from './stateful-set.ts';

export const statefulSet = defineController({
  name: 'statefulset-controller',
  aliases: ['statefulset'],
  flags: {
    'concurrent-statefulset-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      config: 'StatefulSetController.ConcurrentStatefulSetSyncs',
      help: 'StatefulSets that may sync at the same time',
    }),
  },
  create: (context, options) => createStatefulSetController(context, options['concurrent-statefulset-syncs']),
});
