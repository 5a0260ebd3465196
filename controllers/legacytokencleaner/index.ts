import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { createLegacyTokenCleaner } from './legacy-token-cleaner.ts';

export const legacyTokenCleaner = defineController({
  name: 'legacy-serviceaccount-token-cleaner-controller',
  aliases: ['legacy-service-account-token-cleaner'],
  options: z.strictObject({
    'legacy-service-account-token-clean-up-period': z
      .number()
      .positive()
      .default(365 * 24 * 3600 * 1000),
  }),
  create: (context, options) =>
    createLegacyTokenCleaner(context, options['legacy-service-account-token-clean-up-period']),
});
