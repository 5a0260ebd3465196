import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createEndpointsController } from './endpoints.ts';

export const endpoints = defineController({
  name: 'endpoints-controller',
  aliases: ['endpoint'],
  flags: {
    'concurrent-endpoint-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      config: 'EndpointController.ConcurrentEndpointSyncs',
      help: 'Services whose Endpoints may sync at the same time',
    }),
    'endpoint-updates-batch-period': flag('duration', {
      check: atLeast(0),
      config: 'EndpointController.EndpointUpdatesBatchPeriod',
      help: 'Delay after a pod change, so that several changes need one write; 0 for none',
    }),
  },
  create: (context, options) =>
    createEndpointsController(context, {
      workers: options['concurrent-endpoint-syncs'],
      batchPeriodMs: options['endpoint-updates-batch-period'],
    }),
});
