import type { FactsSpec } from '../../../pkg/controller/index.ts';
import { flag, type FlagTable } from '../../../pkg/flags/index.ts';

/** These stay here: the Go binary, too, knows their names but leaves their work to a cloud controller manager. */
export const cloudControllers: readonly FactsSpec<FlagTable>[] = [
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
];
