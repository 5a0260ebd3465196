import * as z from 'zod';

import { defineController } from '../../pkg/controller/index.ts';
import { replicaSetKind, replicationControllerKind } from './replica-kinds.ts';
import { createReplicaController } from './replicas.ts';

const concurrency = z.coerce.number().int().min(1).default(5);

export const replicaSet = defineController({
  name: replicaSetKind.controllerName,
  aliases: ['replicaset'],
  options: z.strictObject({
    'concurrent-replicaset-syncs': concurrency.describe('ReplicaSets that may sync at once'),
  }),
  create: (context, options) =>
    createReplicaController(context, replicaSetKind, options['concurrent-replicaset-syncs']),
});

export const replicationController = defineController({
  name: replicationControllerKind.controllerName,
  aliases: ['replicationcontroller'],
  options: z.strictObject({
    'concurrent-rc-syncs': concurrency.describe('ReplicationControllers that may sync at once'),
  }),
  create: (context, options) =>
    createReplicaController(context, replicationControllerKind, options['concurrent-rc-syncs']),
});
