import { parseCertificates } from '../../pkg/certificates/index.ts';
import { defineController, sharedFlags } from '../../pkg/controller/index.ts';
import { readFlagFile } from '../../pkg/flags/index.ts';
import { createRootCaPublisher } from './root-ca-publisher.ts';

export const rootCaPublisher = defineController({
  name: 'root-ca-certificate-publisher-controller',
  aliases: ['root-ca-cert-publisher'],
  flags: { 'root-ca-file': sharedFlags['root-ca-file'] },
  create: (context, options) =>
    createRootCaPublisher(
      context,
      readFlagFile(options['root-ca-file'], parseCertificates) ?? context.serverAuthority ?? '',
    ),
});
