import { defineController } from '../../pkg/controller/index.ts';
import { createServiceAccountController } from './service-accounts.ts';

export const serviceAccount = defineController({
  name: 'serviceaccount-controller',
  aliases: ['serviceaccount'],
  create: createServiceAccountController,
});
