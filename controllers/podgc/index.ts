import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createPodGcController } from './pod-gc.ts';

export const podGarbageCollector = defineController({
  name: 'pod-garbage-collector-controller',
  aliases: ['podgc'],
  options: z.strictObject({
    'terminated-pod-gc-threshold': z
      .number()
      .int()
      .default(12_500)
      .describe('More finished pods than this are deleted, oldest first; 0 or less for never'),
  }),
  create: (context, options) => createPodGcController(context, options['terminated-pod-gc-threshold']),
});
