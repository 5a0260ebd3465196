import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createGarbageCollector, name } from './garbage-collector.ts';

export const garbageCollector = defineController({
  name,
  aliases: ['garbagecollector'],
  options: z.strictObject({
    'concurrent-gc-syncs': z.number().int().min(1).default(20),
    'enable-garbage-collector': z.boolean().default(true),
  }),
  create: (context, options) =>
    options['enable-garbage-collector']
      ? createGarbageCollector(context, { workers: options['concurrent-gc-syncs'] })
      : { name, run: async () => {} }, // as configured
});
