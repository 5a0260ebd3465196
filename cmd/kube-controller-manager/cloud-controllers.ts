import { describeController, type ControllerFacts } from '../../pkg/controller/index.ts';
import { flag } from '../../pkg/flags/index.ts';

/**
 * `--controllers` accepts these names, and their flag has no effect: like the Go binary, this one leaves their work to a
 * cloud controller manager.
 */
export const cloudControllers: readonly ControllerFacts[] = [
  { name: 'cloud-node-lifecycle-controller', aliases: ['cloud-node-lifecycle'] },
  { name: 'node-route-controller', aliases: ['route'] },
  {
    name: 'service-lb-controller',
    aliases: ['service'],
    flags: {
      'concurrent-service-syncs': flag('int32', {
        default: 1,
        config: 'ServiceController.ConcurrentServiceSyncs',
        help: 'Services of type LoadBalancer that may sync at the same time',
      }),
    },
  },
].map(describeController);
