import { objectKey, type Cached, type CSIDriver, type Pod } from '../../pkg/api/index.ts';
import { defineIndex, type Index, type Store } from '../../informers/index.ts';
import {
  attachableVolumeOf,
  csiVolumeOf,
  inlineCsiVolumeOf,
  type AttachableVolume,
  type VolumeCaches,
} from '../../pkg/volumes/index.ts';
import type { PersistentVolume } from '../../pkg/api/index.ts';
import type { ResolvedVolumes } from './desired-state.ts';
import { csiPluginName, pluginNameOf } from './metrics.ts';

/** PersistentVolumes by the CSI driver that serves them. */
export const volumesByDriver: Index<PersistentVolume> = defineIndex<PersistentVolume>('csi driver', (volume) => {
  const driver = csiVolumeOf(volume)?.csi.driver;
  return driver === undefined ? [] : [driver];
});

/** Pods by the CSI drivers of volumes without a PersistentVolume. */
export const podsByInlineDriver: Index<Pod> = defineIndex<Pod>('csi driver', ({ metadata, spec }) =>
  (spec.volumes ?? []).flatMap((volume) => {
    const driver = inlineCsiVolumeOf(volume, metadata.namespace ?? '')?.spec.csi.driver;
    return driver === undefined ? [] : [driver];
  }),
);

/** Whether a driver attaches. One without a CSIDriver does. */
export function attaches(driver: Cached<CSIDriver> | undefined): boolean {
  return driver?.spec.attachRequired !== false;
}

export interface PodVolumeCaches extends VolumeCaches {
  readonly drivers: Pick<Store<CSIDriver>, 'get'>;
}

export interface PodVolumes extends ResolvedVolumes {
  /** The plugin of each volume, as metrics name it. Also of volumes that a CSI driver makes for the pod: none attaches. */
  readonly plugins: readonly string[];
}

/** What the volumes of a pod stand for, as far as their claims are bound. */
export function resolveVolumes(pod: Cached<Pod>, caches: PodVolumeCaches): PodVolumes {
  const all = (pod.spec.volumes ?? []).flatMap((volume) => attachableVolumeOf(volume, pod, caches) ?? []);
  const isAttached = ({ csi }: AttachableVolume): boolean =>
    csi === undefined || attaches(caches.drivers.get(objectKey(undefined, csi.driver)));
  const attachable = all.filter(isAttached);
  const inline = (pod.spec.volumes ?? []).flatMap(({ csi }) => (csi === undefined ? [] : csiPluginName(csi.driver)));
  return {
    plugins: [...all.map((volume) => pluginNameOf(volume.uniqueName, volume)), ...inline],
    attachable,
    unattached: all.filter((volume) => !isAttached(volume)).map(({ uniqueName }) => uniqueName),
  };
}
