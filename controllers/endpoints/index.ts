import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createEndpointsController } from './endpoints.ts';

export const endpoints = defineController({
  name: 'endpoints-controller',
  aliases: ['endpoint'],
  options: z.strictObject({
    'concurrent-endpoint-syncs': z.coerce.number().int().min(1).default(5).describe('Services that may sync at once'),
    'endpoint-updates-batch-period': z.coerce
      .number()
      .min(0)
      .default(0)
      .describe('Pod changes wait this long, to be written together'),
  }),
  create: (context, options) =>
    createEndpointsController(context, {
      workers: options['concurrent-endpoint-syncs'],
      batchPeriodMs: options['endpoint-updates-batch-period'],
    }),
});
