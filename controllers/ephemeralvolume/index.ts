import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createEphemeralVolumeController } from './ephemeral-volume.ts';

export const ephemeralVolume = defineController({
  name: 'ephemeral-volume-controller',
  aliases: ['ephemeral-volume'],
  flags: {
    'concurrent-ephemeralvolume-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      config: 'EphemeralVolumeController.ConcurrentEphemeralVolumeSyncs',
      help: 'Pods whose ephemeral volumes may sync at the same time',
    }),
  },
  create: (context, options) => createEphemeralVolumeController(context, options['concurrent-ephemeralvolume-syncs']),
});
