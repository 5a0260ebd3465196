import {
  csiDriverOf,
  isInTreeName,
  migratedTo,
  provisionedBy,
  annotationOf,
  hasAnnotation,
  type Class,
  type Volume,
} from '../../pkg/volumes/index.ts';

/** The plugins that are left in the controller manager. NFS volumes can be recycled only. */
export const hostPathPlugin = 'kubernetes.io/host-path';
const nfsPlugin = 'kubernetes.io/nfs';

/** Who provisions a volume. */
export type Provisioner =
  /** Another process, which waits for an annotation with this name. */
  | { readonly kind: 'external'; readonly name: string }
  | { readonly kind: 'host-path' }
  | { readonly kind: 'none'; readonly problem: string };

export type Deleter =
  | { readonly kind: 'external' }
  | { readonly kind: 'host-path' }
  | { readonly kind: 'none'; readonly problem: string };

export function provisionerOf({ provisioner }: Class): Provisioner {
  const driver = csiDriverOf(provisioner);
  if (driver !== undefined) return { kind: 'external', name: driver };
  if (provisioner === hostPathPlugin) return { kind: 'host-path' };
  if (!isInTreeName(provisioner)) return { kind: 'external', name: provisioner };
  return { kind: 'none', problem: problemOf(provisioner, 'provisionable') };
}

/** Who deletes a volume: whoever provisioned it, else the plugin of its source. */
export function deleterOf(volume: Volume): Deleter {
  const plugin = annotationOf(volume, provisionedBy) ?? '';
  if (plugin === hostPathPlugin) return { kind: 'host-path' };
  if (plugin !== '')
    return isInTreeName(plugin) ? { kind: 'none', problem: problemOf(plugin, 'deletable') } : { kind: 'external' };
  if (hasAnnotation(volume, migratedTo) || volume.spec.csi !== undefined) return { kind: 'external' };
  if (volume.spec.hostPath !== undefined) return { kind: 'host-path' };
  const reason = volume.spec.nfs === undefined ? 'no volume plugin matched' : 'no deletable volume plugin matched';
  const problem = `error getting deleter volume plugin for volume "${volume.metadata.name}": ${reason}`;
  return { kind: 'none', problem };
}

function problemOf(plugin: string, ability: 'provisionable' | 'deletable'): string {
  return plugin === nfsPlugin ? `no ${ability} volume plugin matched` : `no volume plugin matched name: ${plugin}`;
}

/** The plugin of a volume's source in metrics. */
export function pluginOf({ spec }: Volume): string {
  if (spec.hostPath !== undefined) return hostPathPlugin;
  return spec.nfs === undefined ? notAvailable : nfsPlugin;
}

export const notAvailable = 'N/A';

/** The name of who provisions for a class, in metrics. */
export function provisionerName(storageClass: Class): string {
  return csiDriverOf(storageClass.provisioner) ?? storageClass.provisioner;
}

/** The name of who deletes a volume, in metrics: any other process counts as the provisioner of the class. */
export function deleterName(volume: Volume, storageClass: Class | undefined): string {
  const deleter = deleterOf(volume);
  if (deleter.kind === 'host-path') return hostPathPlugin;
  return deleter.kind === 'none' || storageClass === undefined ? notAvailable : provisionerName(storageClass);
}
