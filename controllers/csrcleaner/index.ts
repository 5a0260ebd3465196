import { defineController } from '../../pkg/controller/index.ts';
import { createCsrCleaner } from './csr-cleaner.ts';

export const csrCleaner = defineController({
  name: 'certificatesigningrequest-cleaner-controller',
  aliases: ['csrcleaner'],
  create: createCsrCleaner,
});
