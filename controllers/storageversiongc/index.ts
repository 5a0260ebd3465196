import { defineController } from '../../pkg/controller/index.ts';
import { createStorageVersionCollector } from './storage-version-collector.ts';

export const storageVersionCollector = defineController({
  name: 'storageversion-garbage-collector-controller',
  aliases: ['storage-version-gc'],
  requiredGates: ['APIServerIdentity', 'StorageVersionAPI'],
  create: createStorageVersionCollector,
});
