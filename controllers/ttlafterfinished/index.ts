import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createTtlAfterFinishedController } from './ttl-after-finished.ts';

export const ttlAfterFinished = defineController({
  name: 'ttl-after-finished-controller',
  aliases: ['ttl-after-finished'],
  options: z.strictObject({
    'concurrent-ttl-after-finished-syncs': z.coerce
      .number()
      .int()
      .min(1)
      .default(5)
      .describe('Finished Jobs that may be looked at at once'),
  }),
  create: (context, options) =>
    createTtlAfterFinishedController(context, options['concurrent-ttl-after-finished-syncs']),
});
