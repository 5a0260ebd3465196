import { defineController } from '../../pkg/controller/index.ts';
import { flag } from '../../pkg/flags/index.ts';
import { createResourceQuotaController } from './resource-quota.ts';

export const resourceQuota = defineController({
  name: 'resourcequota-controller',
  aliases: ['resourcequota'],
  flags: {
    'concurrent-resource-quota-syncs': flag('int32', {
      default: 5,
      config: 'ResourceQuotaController.ConcurrentResourceQuotaSyncs',
      help: 'ResourceQuotas that may sync at the same time',
    }),
    'resource-quota-sync-period': flag('duration', {
      default: '5m0s',
      config: 'ResourceQuotaController.ResourceQuotaSyncPeriod',
      help: 'How often the usage of every ResourceQuota is computed again',
    }),
  },
  create: (context, options) =>
    createResourceQuotaController(context, {
      workers: options['concurrent-resource-quota-syncs'],
      resyncMs: options['resource-quota-sync-period'],
    }),
});
