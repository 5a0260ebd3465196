import * as z from 'zod';

import { defineController, fileOption, parseCertificates, readFileOption } from '../../pkg/controller/index.ts';
import { createServiceAccountTokenController } from './service-account-tokens.ts';
import { createTokenSigner } from './token-signer.ts';

const name = 'serviceaccount-token-controller';

export const serviceAccountToken = defineController({
  name,
  aliases: ['serviceaccount-token'],
  options: z.strictObject({
    'concurrent-serviceaccount-token-syncs': z.number().int().min(1).default(5),
    'root-ca-file': fileOption(parseCertificates),
    'service-account-private-key-file': fileOption(createTokenSigner),
  }),
  create(context, options) {
    const signer = readFileOption(options['service-account-private-key-file'], createTokenSigner);
    if (signer === undefined) {
      context.logger.info({}, 'no --service-account-private-key-file: token secrets are left as they are');
      return { name, run: () => Promise.resolve() };
    }
    const rootCa = readFileOption(options['root-ca-file'], parseCertificates) ?? context.serverAuthority ?? '';
    const workers = options['concurrent-serviceaccount-token-syncs'];
    return createServiceAccountTokenController(context, { signer, rootCa, workers });
  },
});
