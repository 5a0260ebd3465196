import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, between, flag } from '../../pkg/flags/index.ts';
import { createMirroringController } from './mirroring.ts';

export const endpointSliceMirroring = defineController({
  name: 'endpointslice-mirroring-controller',
  aliases: ['endpointslicemirroring'],
  flags: {
    'mirroring-concurrent-service-endpoint-syncs': flag('int32', {
      default: 5,
      check: between(1, 50),
      config: 'EndpointSliceMirroringController.MirroringConcurrentServiceEndpointSyncs',
      help: 'Endpoints objects that may be mirrored at the same time, 1 to 50',
    }),
    'mirroring-endpointslice-updates-batch-period': flag('duration', {
      check: atLeast(0),
      config: 'EndpointSliceMirroringController.MirroringEndpointUpdatesBatchPeriod',
      help: 'Delay after a change of Endpoints, so that several changes need one write; 0 for none',
    }),
    'mirroring-max-endpoints-per-subset': flag('int32', {
      default: 1000,
      check: between(1, 1000),
      config: 'EndpointSliceMirroringController.MirroringMaxEndpointsPerSubset',
      help: 'Maximum number of endpoints mirrored per subset, 1 to 1000',
    }),
  },
  create: (context, options) =>
    createMirroringController(context, {
      workers: options['mirroring-concurrent-service-endpoint-syncs'],
      batchPeriodMs: options['mirroring-endpointslice-updates-batch-period'],
      maxPerSubset: options['mirroring-max-endpoints-per-subset'],
    }),
});
