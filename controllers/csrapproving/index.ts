import { defineController } from '../../pkg/controller/index.ts';
import { createCsrApproving } from './csr-approving.ts';

export const csrApproving = defineController({
  name: 'certificatesigningrequest-approving-controller',
  aliases: ['csrapproving'],
  create: createCsrApproving,
});
