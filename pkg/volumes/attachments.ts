import { createHash } from 'node:crypto';
import {
  isControlledBy,
  objectKey,
  type Cached,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
} from '../api/index.ts';
import { ephemeralClaimName } from '../pods/index.ts';
import { csiVolumeOf, inlineCsiVolumeOf, type PersistentVolumeSpec, type PodVolume } from './translate.ts';

/** The name of the VolumeAttachment of a volume on a node. */
export function attachmentName(driver: string, volumeHandle: string, nodeName: string): string {
  return `csi-${createHash('sha256').update(`${volumeHandle}${driver}${nodeName}`).digest('hex')}`;
}

export const csiPlugin = 'kubernetes.io/csi';

/** A volume as it is attached to nodes. */
export interface AttachableVolume {
  /** Its name in the status of nodes: the same for all pods and claims that use it. */
  readonly uniqueName: string;
  /** Its name in messages: that of the PersistentVolume, where it has one. */
  readonly name: string;
  /** Undefined for plugins that need nothing but an entry in the status of the node. */
  readonly csi?: CsiAttachment | undefined;
  /** `kubernetes.io/csi` and the like. */
  readonly plugin: string;
  /** Whether at most one node may have it at a time. */
  readonly isExclusive: boolean;
  readonly isMigrated: boolean;
}

interface CsiAttachment {
  readonly driver: string;
  readonly volumeHandle: string;
  readonly source: { readonly persistentVolumeName: string } | { readonly inlineVolumeSpec: PersistentVolumeSpec };
}

/** Where the claims and volumes that pods refer to are found. */
export interface VolumeCaches {
  claim(key: ObjectKey): Cached<PersistentVolumeClaim> | undefined;
  volume(name: string): Cached<PersistentVolume> | undefined;
}

/** The volume behind a volume of a pod; undefined if it is of no kind that is attached, or not bound yet. */
export function attachableVolumeOf(
  volume: Cached<PodVolume>,
  pod: Cached<Pod>,
  caches: VolumeCaches,
): AttachableVolume | undefined {
  if (!isClaimed(volume)) return attachableInlineVolume(volume, pod);
  const bound = boundVolumeOf(volume, pod, caches);
  return bound && attachablePersistentVolume(bound);
}

/** Whether it is known what a volume of a pod is. The volume of a claim is known once both are bound. */
export function isVolumeKnown(volume: Cached<PodVolume>, pod: Cached<Pod>, caches: VolumeCaches): boolean {
  return !isClaimed(volume) || boundVolumeOf(volume, pod, caches) !== undefined;
}

function isClaimed({ persistentVolumeClaim, ephemeral }: Cached<PodVolume>): boolean {
  return persistentVolumeClaim !== undefined || ephemeral !== undefined;
}

function boundVolumeOf(
  { persistentVolumeClaim, ephemeral, name }: Cached<PodVolume>,
  pod: Cached<Pod>,
  caches: VolumeCaches,
): Cached<PersistentVolume> | undefined {
  const claimName = persistentVolumeClaim?.claimName ?? ephemeralClaimName(pod.metadata.name, name);
  const claim = caches.claim(objectKey(pod.metadata.namespace, claimName));
  if (claim === undefined || (ephemeral !== undefined && !isControlledBy(claim, pod))) return undefined;
  const volumeName = claim.spec?.volumeName ?? '';
  if (claim.status?.phase !== 'Bound' || volumeName === '') return undefined;
  const bound = caches.volume(volumeName);
  return bound?.spec?.claimRef?.uid === claim.metadata.uid ? bound : undefined;
}

export function attachablePersistentVolume(volume: Cached<PersistentVolume>): AttachableVolume | undefined {
  const { name } = volume.metadata;
  const csi = csiVolumeOf(volume);
  if (csi !== undefined) {
    const { driver, volumeHandle } = csi.csi;
    return {
      uniqueName: csiUniqueName(driver, volumeHandle),
      name,
      csi: { driver, volumeHandle, source: { persistentVolumeName: name } },
      plugin: csiPlugin,
      isExclusive: isExclusive(csi.accessModes),
      isMigrated: csi.isMigrated,
    };
  }
  const entry = nodeEntryOf(volume.spec);
  return entry && { ...entry, name, isExclusive: isExclusive(volume.spec?.accessModes ?? []), isMigrated: false };
}

function attachableInlineVolume(volume: Cached<PodVolume>, pod: Cached<Pod>): AttachableVolume | undefined {
  const translated = inlineCsiVolumeOf(volume, pod.metadata.namespace ?? '');
  if (translated === undefined) {
    const entry = nodeEntryOf(volume);
    return entry && { ...entry, name: volume.name, isExclusive: false, isMigrated: false };
  }
  const { name, spec } = translated;
  const { driver, volumeHandle } = spec.csi;
  return {
    uniqueName: csiUniqueName(driver, volumeHandle),
    name,
    csi: { driver, volumeHandle, source: { inlineVolumeSpec: spec } },
    plugin: csiPlugin,
    isExclusive: isExclusive(spec.accessModes ?? []),
    isMigrated: true,
  };
}

type NodeEntrySources = Cached<Pick<PodVolume, 'fc' | 'iscsi'>>;

/** The volumes of plugins that log in to a storage network on the node itself. */
function nodeEntryOf(
  sources: Cached<Pick<PersistentVolumeSpec, 'fc' | 'iscsi'>> | NodeEntrySources | undefined,
): Pick<AttachableVolume, 'plugin' | 'uniqueName'> | undefined {
  if (sources?.fc !== undefined) {
    const { targetWWNs = [], lun, wwids = [] } = sources.fc;
    const plugin = 'kubernetes.io/fc';
    if (targetWWNs.length > 0 && lun !== undefined)
      return { plugin, uniqueName: `${plugin}/[${targetWWNs.join(' ')}]:${lun}` };
    return wwids.length > 0 ? { plugin, uniqueName: `${plugin}/[${wwids.join(' ')}]` } : undefined;
  }
  if (sources?.iscsi === undefined) return undefined;
  const { targetPortal, iqn, lun } = sources.iscsi;
  const plugin = 'kubernetes.io/iscsi';
  return { plugin, uniqueName: `${plugin}/${targetPortal}:${iqn}:${lun}` };
}

/** Without access modes, it is the driver that refuses a second node. */
function isExclusive(accessModes: readonly string[]): boolean {
  return accessModes.length > 0 && !accessModes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany');
}

export function csiUniqueName(driver: string, volumeHandle: string): string {
  return `${csiPlugin}/${driver}^${volumeHandle}`;
}

/** Whether a name in the status of a node is one that volumes of known plugins have. */
export function isKnownUniqueName(uniqueName: string): boolean {
  return splitCsiUniqueName(uniqueName) !== undefined || /^kubernetes\.io\/(fc|iscsi)\//.test(uniqueName);
}

/** The driver and the handle in a name that `csiUniqueName` made; undefined for any other. */
export function splitCsiUniqueName(
  uniqueName: string,
): { readonly driver: string; readonly volumeHandle: string } | undefined {
  const prefix = `${csiPlugin}/`;
  const separator = uniqueName.indexOf('^');
  if (!uniqueName.startsWith(prefix) || separator < 0) return undefined;
  return { driver: uniqueName.slice(prefix.length, separator), volumeHandle: uniqueName.slice(separator + 1) };
}

/** Most pods have no volume that is attached: to look closer would be a waste. */
export function mayHaveAttached({ spec }: Cached<Pod>): boolean {
  return (spec.volumes ?? []).some(
    ({ configMap, emptyDir, projected, secret, hostPath, downwardAPI }) =>
      (configMap ?? emptyDir ?? projected ?? secret ?? hostPath ?? downwardAPI) === undefined,
  );
}
