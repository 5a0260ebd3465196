import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createGarbageCollector, name } from './garbage-collector.ts';

export const garbageCollector = defineController({
  name,
  aliases: ['garbagecollector'],
  flags: {
    'concurrent-gc-syncs': flag('int32', {
      default: 20,
      check: atLeast(1),
      config: 'GarbageCollectorController.ConcurrentGCSyncs',
      help: 'Objects that the garbage collector may process at the same time',
    }),
    'enable-garbage-collector': flag('bool', {
      default: true,
      config: 'GarbageCollectorController.EnableGarbageCollector',
      help: 'Run the garbage collector. The flag of the same name of the API server must have the same value',
    }),
  },
  create: (context, options) =>
    options['enable-garbage-collector']
      ? createGarbageCollector(context, { workers: options['concurrent-gc-syncs'] })
      : { name, run: async () => {} }, // turned off by its flag
});
