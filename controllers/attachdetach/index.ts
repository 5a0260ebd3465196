import * as z from 'zod';
import { defineController } from '../../pkg/controller/index.ts';
import { flag } from '../../pkg/flags/index.ts';
import { createAttachDetachController } from './attach-detach.ts';

const config = 'AttachDetachController';

export const attachDetach = defineController({
  name: 'persistentvolume-attach-detach-controller',
  aliases: ['attachdetach'],
  flags: {
    'attach-detach-reconcile-sync-period': flag('duration', {
      default: '1m0s',
      check: z.number().min(1000, 'must be at least 1s'),
      config: `${config}.ReconcilerSyncLoopPeriod`,
      help: 'How often it is checked that attached volumes are still attached; at least 1s',
    }),
    'disable-attach-detach-reconcile-sync': flag('bool', {
      config: `${config}.DisableAttachDetachReconcilerSync`,
      help: 'Do not check whether attached volumes are still attached',
    }),
    'disable-force-detach-on-timeout': flag('bool', {
      config: `${config}.disableForceDetachOnTimeout`,
      help: 'Never detach a volume from an unhealthy node because it was not unmounted in time',
    }),
  },
  create: (context, options) =>
    createAttachDetachController(context, {
      verifyPeriodMs: options['disable-attach-detach-reconcile-sync']
        ? undefined
        : options['attach-detach-reconcile-sync-period'],
      isForceDetachDisabled: options['disable-force-detach-on-timeout'],
    }),
});
