import { defineController } from '../../pkg/controller/index.ts';
import { createTokenCleaner } from './token-cleaner.ts';

export const tokenCleaner = defineController({
  name: 'token-cleaner-controller',
  aliases: ['tokencleaner'],
  onByDefault: false,
  create: createTokenCleaner,
});
