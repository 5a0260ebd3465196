import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { replicaSetKind, replicationControllerKind } from './replica-kinds.ts';
import { createReplicaController } from './replicas.ts';

export const replicaSet = defineController({
  name: replicaSetKind.controllerName,
  aliases: ['replicaset'],
  flags: {
    'concurrent-replicaset-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      config: 'ReplicaSetController.ConcurrentRSSyncs',
      help: 'ReplicaSets that may sync at the same time',
    }),
  },
  create: (context, options) =>
    createReplicaController(context, replicaSetKind, options['concurrent-replicaset-syncs']),
});

export const replicationController = defineController({
  name: replicationControllerKind.controllerName,
  aliases: ['replicationcontroller'],
  flags: {
    'concurrent-rc-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      config: 'ReplicationController.ConcurrentRCSyncs',
      help: 'ReplicationControllers that may sync at the same time',
    }),
  },
  create: (context, options) =>
    createReplicaController(context, replicationControllerKind, options['concurrent-rc-syncs']),
});
