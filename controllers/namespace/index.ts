import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createNamespaceController } from './namespace.ts';

export const namespace = defineController({
  name: 'namespace-controller',
  aliases: ['namespace'],
  options: z.strictObject({
    'concurrent-namespace-syncs': z.number().int().min(1).default(10),
    'namespace-sync-period': z.number().min(0).default(300_000),
  }),
  create: (context, options) =>
    createNamespaceController(context, {
      workers: options['concurrent-namespace-syncs'],
      resyncMs: options['namespace-sync-period'],
    }),
});
