import { defineController } from '../../pkg/controller/index.ts';
import { flag, moreThanZero } from '../../pkg/flags/index.ts';
import { createLegacyTokenCleaner } from './legacy-token-cleaner.ts';

export const legacyTokenCleaner = defineController({
  name: 'legacy-serviceaccount-token-cleaner-controller',
  aliases: ['legacy-service-account-token-cleaner'],
  flags: {
    'legacy-service-account-token-clean-up-period': flag('duration', {
      default: '8760h0m0s',
      check: moreThanZero(),
      config: 'LegacySATokenCleaner.CleanUpPeriod',
      help: 'A legacy token Secret that was not used for this long is deleted',
    }),
  },
  create: (context, options) =>
    createLegacyTokenCleaner(context, options['legacy-service-account-token-clean-up-period']),
});
