import { isBeingDeleted } from '../../pkg/api/index.ts';
import { csiDriverOf, isInTreeName, provisionedBy, annotationOf, type Volume } from '../../pkg/volumes/index.ts';

/** Keeps the object of a volume until the plugin in the controller manager has deleted what it stands for. */
export const inTreeFinalizer = 'kubernetes.io/pv-controller';
/** The same, for external provisioners. */
const externalFinalizer = 'external-provisioner.volume.kubernetes.io/finalizer';

/**
 * The finalizers of a volume by who deletes it and by its reclaim policy; undefined if they are right already. Those of a
 * volume that nobody provisioned, or an external provisioner did, are left alone.
 */
export function deletionFinalizers(volume: Pick<Volume, 'metadata' | 'spec'>): readonly string[] | undefined {
  const provisioner = annotationOf(volume, provisionedBy);
  if (provisioner === undefined) return undefined;
  const { finalizers = [] } = volume.metadata;
  const wanted = wantedFinalizers(finalizers, provisioner, volume.spec.persistentVolumeReclaimPolicy);
  // The server lets nobody add a finalizer to an object that is being deleted.
  const allowed = isBeingDeleted(volume.metadata) ? wanted.filter((name) => finalizers.includes(name)) : wanted;
  return allowed.join() === finalizers.join() ? undefined : allowed;
}

function wantedFinalizers(
  finalizers: readonly string[],
  provisioner: string,
  policy: string | undefined,
): readonly string[] {
  const without = (name: string): string[] => finalizers.filter((finalizer) => finalizer !== name);
  if (csiDriverOf(provisioner) !== undefined) return without(inTreeFinalizer);
  if (!isInTreeName(provisioner)) return finalizers;
  const others = without(externalFinalizer);
  if (policy === 'Delete') return others.includes(inTreeFinalizer) ? others : [...others, inTreeFinalizer];
  return policy === 'Retain' || policy === 'Recycle' ? others.filter((name) => name !== inTreeFinalizer) : others;
}
