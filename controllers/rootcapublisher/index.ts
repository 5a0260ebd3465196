import * as z from 'zod';

import { defineController, fileOption, parseCertificates, readFileOption } from '../../pkg/controller/index.ts';
import { createRootCaPublisher } from './root-ca-publisher.ts';

export const rootCaPublisher = defineController({
  name: 'root-ca-certificate-publisher-controller',
  aliases: ['root-ca-cert-publisher'],
  options: z.strictObject({ 'root-ca-file': fileOption(parseCertificates) }),
  create: (context, options) =>
    createRootCaPublisher(
      context,
      readFileOption(options['root-ca-file'], parseCertificates) ?? context.serverAuthority ?? '',
    ),
});
