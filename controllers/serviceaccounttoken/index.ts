import { parseCertificates } from '../../pkg/certificates/index.ts';
import { defineController, sharedFlags } from '../../pkg/controller/index.ts';
import { atLeast, flag, readFlagFile } from '../../pkg/flags/index.ts';
import { createServiceAccountTokenController } from './service-account-tokens.ts';
import { createTokenSigner } from './token-signer.ts';

const name = 'serviceaccount-token-controller';
const group = 'Serviceaccount-controller';

export const serviceAccountToken = defineController({
  name,
  aliases: ['serviceaccount-token'],
  flags: {
    'concurrent-serviceaccount-token-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      group,
      config: 'SAController.ConcurrentSATokenSyncs',
      help: 'Token Secrets that may sync at the same time',
    }),
    'root-ca-file': sharedFlags['root-ca-file'],
    'service-account-private-key-file': flag('string', {
      group,
      config: 'SAController.ServiceAccountKeyFile',
      help: 'Private key (RSA or ECDSA) that signs service account tokens; without it no token Secret is filled',
      content: createTokenSigner,
    }),
  },
  create(context, options) {
    const signer = readFlagFile(options['service-account-private-key-file'], createTokenSigner);
    if (signer === undefined) {
      context.logger.info({}, '--service-account-private-key-file is not set: token Secrets are not filled');
      return { name, run: () => Promise.resolve() };
    }
    const rootCa = readFlagFile(options['root-ca-file'], parseCertificates) ?? context.serverAuthority ?? '';
    const workers = options['concurrent-serviceaccount-token-syncs'];
    return createServiceAccountTokenController(context, { signer, rootCa, workers });
  },
});
