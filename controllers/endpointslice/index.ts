import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createEndpointSliceController } from './endpoint-slices.ts';

export const endpointSlice = defineController({
  name: 'endpointslice-controller',
  aliases: ['endpointslice'],
  options: z.strictObject({
    'concurrent-service-endpoint-syncs': z.coerce
      .number()
      .int()
      .min(1)
      .max(50)
      .default(5)
      .describe('Services that may sync at once'),
    'endpointslice-updates-batch-period': z.coerce
      .number()
      .min(0)
      .default(0)
      .describe('Pod changes wait this long, to be written together'),
    'max-endpoints-per-slice': z.coerce
      .number()
      .int()
      .min(1)
      .max(1000)
      .default(100)
      .describe('Most endpoints in one EndpointSlice'),
  }),
  create: (context, options) =>
    createEndpointSliceController(context, {
      workers: options['concurrent-service-endpoint-syncs'],
      batchPeriodMs: options['endpointslice-updates-batch-period'],
      maxPerSlice: options['max-endpoints-per-slice'],
    }),
});
