import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, between, flag } from '../../pkg/flags/index.ts';
import { createEndpointSliceController } from './endpoint-slices.ts';

export const endpointSlice = defineController({
  name: 'endpointslice-controller',
  aliases: ['endpointslice'],
  flags: {
    'concurrent-service-endpoint-syncs': flag('int32', {
      default: 5,
      check: between(1, 50),
      config: 'EndpointSliceController.ConcurrentServiceEndpointSyncs',
      help: 'Services whose EndpointSlices may sync at the same time, 1 to 50',
    }),
    'endpointslice-updates-batch-period': flag('duration', {
      check: atLeast(0),
      config: 'EndpointSliceController.EndpointUpdatesBatchPeriod',
      help: 'Delay after a pod change, so that several changes need one write; 0 for none',
    }),
    'max-endpoints-per-slice': flag('int32', {
      default: 100,
      check: between(1, 1000),
      config: 'EndpointSliceController.MaxEndpointsPerSlice',
      help: 'Maximum number of endpoints in one EndpointSlice, 1 to 1000',
    }),
  },
  create: (context, options) =>
    createEndpointSliceController(context, {
      workers: options['concurrent-service-endpoint-syncs'],
      batchPeriodMs: options['endpointslice-updates-batch-period'],
      maxPerSlice: options['max-endpoints-per-slice'],
    }),
});
