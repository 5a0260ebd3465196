import { ownValue, type Cached, type PersistentVolume, type PodSpec } from '../api/index.ts';
import { azureFileHandle, ebsVolumeId, gceAccessModes, gceDiskHandle } from './handles.ts';

export type PodVolume = NonNullable<PodSpec['volumes']>[number];
export type PersistentVolumeSpec = NonNullable<PersistentVolume['spec']>;
export type CsiSource = NonNullable<PersistentVolumeSpec['csi']>;
type Volume = Cached<PersistentVolume>;

/** What a CSI driver is told instead of the source of a plugin that was part of Kubernetes. */
interface Translated {
  readonly csi: CsiSource;
  /** Undefined: those of the volume. */
  readonly accessModes?: readonly string[] | undefined;
}

interface TranslatedInline extends Translated {
  /** Names the volume in messages. */
  readonly name: string;
  readonly accessModes: readonly string[];
}

interface Translator {
  /** The field of both kinds of volumes that has the source. */
  readonly field: keyof PersistentVolumeSpec & keyof PodVolume;
  readonly plugin: string;
  /** Undefined if the source is of a form that no driver takes. */
  ofVolume(volume: Volume): Translated | undefined;
  ofPod(volume: Cached<PodVolume>, podNamespace: string): TranslatedInline | undefined;
}

const once = ['ReadWriteOnce'];
const onceOrReadOnly = (readOnly: boolean | undefined): string[] => (readOnly === true ? ['ReadOnlyMany'] : once);
/** Go omits empty fields, and so what is compared with its objects must not have them. */
const fieldsOf = (fields: { readOnly?: boolean | undefined; fsType?: string | undefined }): Partial<CsiSource> => ({
  ...(fields.readOnly === true && { readOnly: true }),
  ...(fields.fsType !== undefined && fields.fsType !== '' && { fsType: fields.fsType }),
});

const translators: readonly Translator[] = [
  {
    field: 'awsElasticBlockStore',
    plugin: 'kubernetes.io/aws-ebs',
    ofVolume: ({ spec }) => ebs(spec?.awsElasticBlockStore),
    ofPod: ({ awsElasticBlockStore }) => inline(ebs(awsElasticBlockStore), once),
  },
  {
    field: 'gcePersistentDisk',
    plugin: 'kubernetes.io/gce-pd',
    ofVolume(volume) {
      const disk = volume.spec?.gcePersistentDisk;
      const handle = disk && gceDiskHandle(disk.pdName, volume.metadata.labels);
      if (handle === undefined) return undefined;
      return { csi: gcePd(disk ?? { pdName: '' }, handle), accessModes: gceAccessModes(volume.spec?.accessModes) };
    },
    ofPod({ gcePersistentDisk: disk }) {
      if (disk === undefined) return undefined;
      const csi = gcePd(disk, gceDiskHandle(disk.pdName, undefined) ?? '');
      return { csi, accessModes: onceOrReadOnly(disk.readOnly), name: `${csi.driver}-${disk.pdName}` };
    },
  },
  {
    field: 'azureDisk',
    plugin: 'kubernetes.io/azure-disk',
    ofVolume: ({ spec }) => azureDisk(spec?.azureDisk),
    ofPod({ azureDisk: disk }) {
      const translated = azureDisk(disk);
      return translated && { ...translated, accessModes: once, name: translated.csi.volumeHandle };
    },
  },
  {
    field: 'azureFile',
    plugin: 'kubernetes.io/azure-file',
    ofVolume({ metadata, spec }) {
      const file = spec?.azureFile;
      const namespace = file?.secretNamespace ?? spec?.claimRef?.namespace ?? '';
      if (file === undefined || namespace === '') return undefined;
      const resourceGroup = ownValue(metadata.annotations, 'kubernetes.io/azure-file-resource-group');
      return { csi: azureFile(file, { resourceGroup, volumeName: metadata.name, namespace }) };
    },
    ofPod({ name, azureFile: file }, podNamespace) {
      if (file === undefined) return undefined;
      const namespace = podNamespace === '' ? 'default' : podNamespace;
      const csi = azureFile(file, { volumeName: name, namespace });
      return { csi, accessModes: ['ReadWriteMany'], name: csi.volumeHandle };
    },
  },
  {
    field: 'cinder',
    plugin: 'kubernetes.io/cinder',
    ofVolume: ({ spec }) => cinder(spec?.cinder),
    ofPod: ({ cinder: source }) => inline(cinder(source), once),
  },
  {
    field: 'vsphereVolume',
    plugin: 'kubernetes.io/vsphere-volume',
    ofVolume: ({ spec }) => vsphere(spec?.vsphereVolume),
    ofPod: ({ vsphereVolume }) => inline(vsphere(vsphereVolume), once),
  },
  {
    field: 'portworxVolume',
    plugin: 'kubernetes.io/portworx-volume',
    ofVolume: ({ spec }) => portworx(spec?.portworxVolume),
    ofPod: ({ portworxVolume }) => inline(portworx(portworxVolume), onceOrReadOnly(portworxVolume?.readOnly)),
  },
];

function inline(translated: Translated | undefined, accessModes: string[]): TranslatedInline | undefined {
  return translated && { ...translated, accessModes, name: `${translated.csi.driver}-${translated.csi.volumeHandle}` };
}

function ebs(source: Cached<PodVolume['awsElasticBlockStore']>): Translated | undefined {
  const volumeHandle = source && ebsVolumeId(source.volumeID);
  if (volumeHandle === undefined) return undefined;
  const volumeAttributes = { partition: String(source?.partition ?? 0) };
  return { csi: { driver: 'ebs.csi.aws.com', volumeHandle, ...fieldsOf(source ?? {}), volumeAttributes } };
}

function gcePd(disk: Cached<NonNullable<PodVolume['gcePersistentDisk']>>, volumeHandle: string): CsiSource {
  const { partition = 0 } = disk;
  const volumeAttributes = { partition: partition === 0 ? '' : String(partition) };
  return { driver: 'pd.csi.storage.gke.io', volumeHandle, ...fieldsOf(disk), volumeAttributes };
}

function azureDisk(source: Cached<PodVolume['azureDisk']>): Translated | undefined {
  if (source === undefined) return undefined;
  const { kind = 'Managed', cachingMode, diskURI, fsType, readOnly } = source;
  if (kind.toLowerCase() !== 'managed') return undefined; // no driver takes the disks that are files of a storage account
  const volumeAttributes = {
    kind: 'Managed',
    ...(cachingMode !== undefined && cachingMode !== '' && { cachingmode: cachingMode }),
    ...(fsType !== undefined && { fstype: fsType }),
  };
  return {
    csi: { driver: 'disk.csi.azure.com', volumeHandle: diskURI, ...fieldsOf({ readOnly, fsType }), volumeAttributes },
  };
}

function azureFile(
  file: Cached<NonNullable<PodVolume['azureFile']>>,
  place: { readonly resourceGroup?: string | undefined; readonly volumeName: string; readonly namespace: string },
): CsiSource {
  const { secretName, shareName, readOnly } = file;
  return {
    driver: 'file.csi.azure.com',
    volumeHandle: azureFileHandle({ secretName, shareName, ...place }),
    ...fieldsOf({ readOnly }),
    volumeAttributes: { sharename: shareName },
    nodeStageSecretRef: { name: secretName, namespace: place.namespace },
  };
}

type CinderSource = {
  readonly volumeID: string;
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
};

function cinder(source: CinderSource | undefined): Translated | undefined {
  return source && { csi: { driver: 'cinder.csi.openstack.org', volumeHandle: source.volumeID, ...fieldsOf(source) } };
}

function vsphere(source: Cached<PodVolume['vsphereVolume']>): Translated | undefined {
  if (source === undefined) return undefined;
  const { fsType, storagePolicyName = '', volumePath } = source;
  const volumeAttributes =
    storagePolicyName === '' ? {} : { volumeAttributes: { storagepolicyname: storagePolicyName } };
  return {
    csi: { driver: 'csi.vsphere.vmware.com', volumeHandle: volumePath, ...fieldsOf({ fsType }), ...volumeAttributes },
  };
}

function portworx(source: Cached<PodVolume['portworxVolume']>): Translated | undefined {
  if (source === undefined) return undefined;
  const { fsType, volumeID } = source;
  return { csi: { driver: 'pxd.portworx.com', volumeHandle: volumeID, ...fieldsOf({ fsType }) } };
}

/** The plugin, once part of Kubernetes, whose source a PersistentVolume has; undefined if it has none of them. */
export function inTreePluginOf(spec: Cached<PersistentVolumeSpec>): string | undefined {
  return translators.find(({ field }) => spec[field] !== undefined)?.plugin;
}

/** A volume that a CSI driver serves. */
export interface CsiVolume {
  readonly csi: Cached<CsiSource>;
  readonly accessModes: readonly string[];
  /** Whether its source is that of a plugin that was part of Kubernetes. */
  readonly isMigrated: boolean;
}

/** How a CSI driver sees a PersistentVolume; undefined if none serves it. */
export function csiVolumeOf(volume: Volume): CsiVolume | undefined {
  const { spec } = volume;
  if (spec === undefined) return undefined;
  const accessModes = spec.accessModes ?? [];
  for (const { field, ofVolume } of translators) {
    if (spec[field] === undefined) continue;
    const translated = ofVolume(volume);
    return translated && { csi: translated.csi, accessModes: translated.accessModes ?? accessModes, isMigrated: true };
  }
  return spec.csi === undefined ? undefined : { csi: spec.csi, accessModes, isMigrated: false };
}

/** A volume of a pod, without a PersistentVolume, that a CSI driver serves since its plugin is gone. */
export interface InlineCsiVolume {
  readonly name: string;
  /** What a VolumeAttachment has in place of the name of a PersistentVolume. */
  readonly spec: PersistentVolumeSpec & { readonly csi: CsiSource };
}

/** Undefined if the source is none of a plugin that was part of Kubernetes. An ephemeral volume of a CSI driver is not meant. */
export function inlineCsiVolumeOf(volume: Cached<PodVolume>, podNamespace: string): InlineCsiVolume | undefined {
  for (const { field, ofPod } of translators) {
    if (volume[field] === undefined) continue;
    const translated = ofPod(volume, podNamespace);
    if (translated === undefined) return undefined;
    const { accessModes, csi, name } = translated;
    return { name, spec: { accessModes: [...accessModes], csi, volumeMode: 'Filesystem' } };
  }
  return undefined;
}
