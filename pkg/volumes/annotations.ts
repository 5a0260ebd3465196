import { ownValue } from '../api/index.ts';
import { csiDriverOf } from './plugins.ts';

type Annotations = Readonly<Record<string, string>>;

/** On a claim: it was bound once. From then on a missing volume means lost data. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed';
/** On a claim or a volume: the binder chose the other side, not the user. */
export const boundByController = 'pv.kubernetes.io/bound-by-controller';
/** On a claim: the node for which the scheduler wants a volume to be provisioned. */
export const selectedNode = 'volume.kubernetes.io/selected-node';
/** On a volume: the plugin or the external provisioner that made it. */
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';
/** On a claim or a volume: the CSI driver that took over from the plugin which the object names. */
export const migratedTo = 'pv.kubernetes.io/migrated-to';
/** On a claim: who is asked to provision. External provisioners wait for it. */
export const storageProvisioner = 'volume.kubernetes.io/storage-provisioner';
export const betaStorageProvisioner = 'volume.beta.kubernetes.io/storage-provisioner';

/** A claim's annotations with the driver that took over from its provisioner; undefined if they are right already. */
export function migrateClaimAnnotations(annotations: Annotations | undefined): Annotations | undefined {
  return migrate(
    annotations,
    ownValue(annotations, storageProvisioner) ?? ownValue(annotations, betaStorageProvisioner),
  );
}

/** The same for a volume. One that was not provisioned stays as it is. */
export function migrateVolumeAnnotations(annotations: Annotations | undefined): Annotations | undefined {
  return migrate(annotations, ownValue(annotations, provisionedBy));
}

function migrate(annotations: Annotations | undefined, provisioner: string | undefined): Annotations | undefined {
  if (annotations === undefined || provisioner === undefined) return undefined;
  const driver = csiDriverOf(provisioner);
  if ((ownValue(annotations, migratedTo) ?? '') === (driver ?? '')) return undefined;
  const { [migratedTo]: _outdated, ...others } = annotations;
  return driver === undefined ? others : { ...others, [migratedTo]: driver };
}
