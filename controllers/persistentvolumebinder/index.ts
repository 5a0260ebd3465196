import { defineController } from '../../pkg/controller/index.ts';
import { flag, readFlagFile } from '../../pkg/flags/index.ts';
import { createPersistentVolumeBinder } from './persistent-volume-binder.ts';
import { defaultTemplate } from './recycler-pod.ts';
import { parseRecyclerTemplate } from './recycler-template.ts';

const binder = 'PersistentVolumeBinderController';
const recycler = `${binder}.VolumeConfiguration.PersistentVolumeRecyclerConfiguration`;

const flags = {
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
    noEffect: 'flex volume plugins are not run',
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
    content: parseRecyclerTemplate,
  }),
  'pv-recycler-pod-template-filepath-nfs': flag('string', {
    config: `${recycler}.PodTemplateFilePathNFS`,
    help: 'File with the pod template of an NFS recycler pod',
    content: parseRecyclerTemplate,
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

export const persistentVolumeBinder = defineController({
  name: 'persistentvolume-binder-controller',
  aliases: ['persistentvolume-binder'],
  flags,
  create: (context, options) =>
    createPersistentVolumeBinder(context, {
      syncPeriodMs: options['pvclaimbinder-sync-period'],
      isProvisioningEnabled: options['enable-dynamic-provisioning'],
      isHostPathEnabled: options['enable-hostpath-provisioner'],
      recyclers: {
        hostPath: {
          template: templateOf(options['pv-recycler-pod-template-filepath-hostpath']),
          minimumSeconds: options['pv-recycler-minimum-timeout-hostpath'],
          secondsPerGi: options['pv-recycler-timeout-increment-hostpath'],
        },
        nfs: {
          template: templateOf(options['pv-recycler-pod-template-filepath-nfs']),
          minimumSeconds: options['pv-recycler-minimum-timeout-nfs'],
          secondsPerGi: options['pv-recycler-increment-timeout-nfs'],
        },
      },
    }),
});

function templateOf(path: string): typeof defaultTemplate {
  return readFlagFile(path, parseRecyclerTemplate) ?? defaultTemplate;
}
