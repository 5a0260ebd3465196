import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createMirroringController } from './mirroring.ts';

export const endpointSliceMirroring = defineController({
  name: 'endpointslice-mirroring-controller',
  aliases: ['endpointslicemirroring'],
  options: z.strictObject({
    'mirroring-concurrent-service-endpoint-syncs': z.coerce
      .number()
      .int()
      .min(1)
      .max(50)
      .default(5)
      .describe('Endpoints that may sync at once'),
    'mirroring-endpointslice-updates-batch-period': z.coerce
      .number()
      .min(0)
      .default(0)
      .describe('Changes of Endpoints wait this long, to be written together'),
    'mirroring-max-endpoints-per-subset': z.coerce
      .number()
      .int()
      .min(1)
      .max(1000)
      .default(1000)
      .describe('Most endpoints mirrored of one subset'),
  }),
  create: (context, options) =>
    createMirroringController(context, {
      workers: options['mirroring-concurrent-service-endpoint-syncs'],
      batchPeriodMs: options['mirroring-endpointslice-updates-batch-period'],
      maxPerSubset: options['mirroring-max-endpoints-per-subset'],
    }),
});
