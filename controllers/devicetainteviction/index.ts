import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createDeviceTaintEvictionController } from './device-taint-eviction.ts';

export const deviceTaintEviction = defineController({
  name: 'device-taint-eviction-controller',
  requiredGates: ['DynamicResourceAllocation', 'DRADeviceTaints'],
  flags: {
    'concurrent-device-taint-eviction-syncs': flag('int32', {
      default: 8,
      check: atLeast(1),
      config: 'DeviceTaintEvictionController.ConcurrentSyncs',
      help: 'Pod evictions that may run at the same time',
    }),
  },
  create: (context, options) =>
    createDeviceTaintEvictionController(context, options['concurrent-device-taint-eviction-syncs']),
});
