import { defineController } from '../../pkg/controller/index.ts';
import { flag } from '../../pkg/flags/index.ts';
import { createPodGcController } from './pod-gc.ts';

export const podGarbageCollector = defineController({
  name: 'pod-garbage-collector-controller',
  aliases: ['podgc'],
  flags: {
    'terminated-pod-gc-threshold': flag('int32', {
      default: 12_500,
      config: 'PodGCController.TerminatedPodGCThreshold',
      help: 'If there are more finished pods than this, the oldest are deleted; 0 or less turns that off',
    }),
  },
  create: (context, options) => createPodGcController(context, options['terminated-pod-gc-threshold']),
});
