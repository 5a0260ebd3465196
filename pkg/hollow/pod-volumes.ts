import {
  objectKey,
  type Cached,
  type CSIDriver,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
} from '../api/index.ts';
import { compileNodeSelector, type NodePredicate } from '../nodes/index.ts';
import { claimReferencesOf } from '../pods/index.ts';
import type { Store } from '../../informers/index.ts';
import { attachableVolumeOf, mayHaveAttached, splitCsiUniqueName } from '../volumes/index.ts';
import { attachableVolumes, hollowDriver } from './csi.ts';
import type { HollowNode } from './fleet.ts';

export interface VolumeStores {
  readonly claims: Pick<Store<PersistentVolumeClaim>, 'get'>;
  readonly volumes: Pick<Store<PersistentVolume>, 'get'>;
  readonly drivers: Pick<Store<CSIDriver>, 'get'>;
}

/** The names, in the status of the node, of the volumes that must be attached before the pod can start. */
export function attachedVolumesOf(pod: Cached<Pod>, { claims, drivers, volumes }: VolumeStores): string[] {
  const caches = {
    claim: claims.get.bind(claims),
    volume: (name: string) => volumes.get(objectKey(undefined, name)),
  };
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const attachable = attachableVolumeOf(volume, pod, caches);
    if (attachable === undefined) return [];
    const driver = attachable.csi && drivers.get(objectKey(undefined, attachable.csi.driver));
    return driver?.spec.attachRequired === false ? [] : [attachable.uniqueName];
  });
}

/** The volumes that the kubelet says it uses: those of all pods on the node that have not stopped. */
export function volumesInUse({ neighbours }: HollowNode, stores: VolumeStores): string[] {
  const names = [...neighbours.pods.values()].filter(mayHaveAttached).flatMap((pod) => attachedVolumesOf(pod, stores));
  return [...new Set(names)].sort();
}

/** The nodes whose CSINode allows the bound volumes of a pod beside those that are in use. Like the scheduler. */
export function compileVolumeRoom(pod: Cached<Pod>, stores: VolumeStores): (hollow: HollowNode) => boolean {
  const own = attachedVolumesOf(pod, stores).filter(isLimited);
  if (own.length === 0) return () => true;
  return (hollow) => {
    const others = volumesInUse(hollow, stores).filter(isLimited);
    return new Set([...own, ...others]).size <= attachableVolumes;
  };
}

function isLimited(uniqueName: string): boolean {
  return splitCsiUniqueName(uniqueName)?.driver === hollowDriver;
}

/**
 * Like a kubelet: it says that it uses a volume, and mounts it once the controller has said that it is attached. In this
 * order a volume is never detached under it.
 */
export function areVolumesReady(pod: Cached<Pod>, { node }: HollowNode, stores: VolumeStores): boolean {
  const inUse = new Set(node?.status?.volumesInUse);
  const attached = new Set((node?.status?.volumesAttached ?? []).map(({ name }) => name));
  return attachedVolumesOf(pod, stores).every((name) => inUse.has(name) && attached.has(name));
}

/**
 * The nodes that can reach every bound volume of a pod, by the node affinity of the volumes. Unknown while the volume of a
 * claim is not in the cache.
 */
export function compileVolumeReach(
  pod: Cached<Pod>,
  { claims, volumes }: Pick<VolumeStores, 'claims' | 'volumes'>,
): NodePredicate | 'unknown' {
  const reaches: NodePredicate[] = [];
  for (const { key } of claimReferencesOf(pod)) {
    const volumeName = claims.get(key)?.spec.volumeName ?? '';
    if (volumeName === '') continue;
    const volume = volumes.get(objectKey(undefined, volumeName));
    if (volume === undefined) return 'unknown';
    const required = volume.spec.nodeAffinity?.required;
    if (required !== undefined) reaches.push(compileNodeSelector(required.nodeSelectorTerms));
  }
  return (node) => reaches.every((canReach) => canReach(node));
}
