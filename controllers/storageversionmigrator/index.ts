import { defineController } from '../../pkg/controller/index.ts';
import { createStorageVersionMigrator, name } from './storage-version-migrator.ts';

export const storageVersionMigrator = defineController({
  name,
  aliases: ['svm'],
  create: (context) =>
    context.gates.isEnabled('StorageVersionMigrator') && context.gates.isEnabled('InformerResourceVersion')
      ? createStorageVersionMigrator(context)
      : { name, run: async () => {} }, // turned off by a gate
});
