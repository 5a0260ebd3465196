import * as z from 'zod';

import type { FactsSpec } from '../../../pkg/controller/index.ts';
import { atLeast, flag, type FlagTable } from '../../../pkg/flags/index.ts';

const attaching = 'AttachDetachController';
const binder = 'PersistentVolumeBinderController';
const recycler = `${binder}.VolumeConfiguration.PersistentVolumeRecyclerConfiguration`;

const attachDetachFlags = {
  'attach-detach-reconcile-sync-period': flag('duration', {
    default: '1m0s',
    check: z.number().min(1000, 'must be at least 1s'),
    config: `${attaching}.ReconcilerSyncLoopPeriod`,
    help: 'How often attached volumes are reconciled with the nodes; at least 1s',
  }),
  'disable-attach-detach-reconcile-sync': flag('bool', {
    config: `${attaching}.DisableAttachDetachReconcilerSync`,
    help: 'Do not reconcile attached volumes with the nodes',
  }),
  'disable-force-detach-on-timeout': flag('bool', {
    config: `${attaching}.disableForceDetachOnTimeout`,
    help: 'Never force-detach a volume because its unmount timed out',
  }),
};

const binderFlags = {
  'enable-dynamic-provisioning': flag('bool', {
    default: true,
    config: `${binder}.VolumeConfiguration.EnableDynamicProvisioning`,
    help: 'Enable dynamic provisioning of volumes',
  }),
  'enable-hostpath-provisioner': flag('bool', {
    config: `${binder}.VolumeConfiguration.EnableHostPathProvisioning`,
    help: 'Provision hostPath volumes; for tests with one node',
  }),
  'flex-volume-plugin-dir': flag('string', {
    default: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
    config: `${binder}.VolumeConfiguration.FlexVolumePluginDir`,
    help: 'Directory of flex volume plugins',
  }),
  'pv-recycler-increment-timeout-nfs': flag('int32', {
    default: 30,
    config: `${recycler}.IncrementTimeoutNFS`,
    help: 'Seconds per GiB that are added to the deadline of an NFS recycler pod',
  }),
  'pv-recycler-minimum-timeout-hostpath': flag('int32', {
    default: 60,
    config: `${recycler}.MinimumTimeoutHostPath`,
    help: 'Minimum deadline of a hostPath recycler pod, in seconds',
  }),
  'pv-recycler-minimum-timeout-nfs': flag('int32', {
    default: 300,
    config: `${recycler}.MinimumTimeoutNFS`,
    help: 'Minimum deadline of an NFS recycler pod, in seconds',
  }),
  'pv-recycler-pod-template-filepath-hostpath': flag('string', {
    config: `${recycler}.PodTemplateFilePathHostPath`,
    help: 'File with the pod template of a hostPath recycler pod',
  }),
  'pv-recycler-pod-template-filepath-nfs': flag('string', {
    config: `${recycler}.PodTemplateFilePathNFS`,
    help: 'File with the pod template of an NFS recycler pod',
  }),
  'pv-recycler-timeout-increment-hostpath': flag('int32', {
    default: 30,
    config: `${recycler}.IncrementTimeoutHostPath`,
    help: 'Seconds per GiB that are added to the deadline of a hostPath recycler pod',
  }),
  'pvclaimbinder-sync-period': flag('duration', {
    default: '15s',
    config: `${binder}.PVClaimBinderSyncPeriod`,
    help: 'How often PersistentVolumes and PersistentVolumeClaims sync again',
  }),
};

/** Controllers of volumes. */
export const volumeControllers: readonly FactsSpec<FlagTable>[] = [
  {
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
  },
  {
    name: 'persistentvolume-attach-detach-controller',
    aliases: ['attachdetach'],
    flags: attachDetachFlags,
  },
  {
    name: 'persistentvolume-binder-controller',
    aliases: ['persistentvolume-binder'],
    flags: binderFlags,
  },
  { name: 'persistentvolume-expander-controller', aliases: ['persistentvolume-expander'] },
  { name: 'persistentvolume-protection-controller', aliases: ['pv-protection'] },
  { name: 'persistentvolumeclaim-protection-controller', aliases: ['pvc-protection'] },
  {
    name: 'selinux-warning-controller',
    onByDefault: false,
    requiredGates: ['SELinuxChangePolicy'],
  },
  { name: 'volumeattributesclass-protection-controller', requiredGates: ['VolumeAttributesClass'] },
];
