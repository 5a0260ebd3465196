import {
  isBeingDeleted,
  keyOf,
  metadataOf,
  objectKey,
  ownValue,
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
  VolumeAttachments,
  type Cached,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type PersistentVolume,
  type StorageClass,
  type Unsaved,
  type VolumeAttachment,
} from '../api/index.ts';
import { isAlreadyExists, isConflict, isNotFound, type Client } from '../client/index.ts';
import type { Reconcile } from '../controller/index.ts';
import {
  classOfClaim,
  isDelayed,
  provisionedBy,
  selectedNode,
  storageProvisioner,
  type Claim,
  type Class,
} from '../volumes/index.ts';
import { defineIndex, type HandlerRegistration, type InformerFactory } from '../../informers/index.ts';
import type { WorkQueue } from '../../workqueue/index.ts';
import { createClaimGate, type ClaimGate } from './claim-gate.ts';
import { hollowDriver } from './csi.ts';
import { applyResize, planResize } from './resizer.ts';
import { freeVolumesByClass, volumesByClaim } from './volume-choice.ts';

/** Keeps the object of a volume until its provisioner has deleted what it stands for. */
const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';

/** The class whose volumes are simulated, and which claims get that name none. */
const sandboxClass: Unsaved<StorageClass> = {
  metadata: { name: 'sandbox', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: hollowDriver,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  allowVolumeExpansion: true,
};

/** The volume for a claim that the binder has handed to this provisioner; undefined for any other claim. */
export function planVolume(claim: Claim, storageClass: Class | undefined): Unsaved<PersistentVolume> | undefined {
  const { metadata, spec } = claim;
  const isOurs = ownValue(metadata.annotations, storageProvisioner) === hollowDriver;
  if (!isOurs || (spec.volumeName ?? '') !== '' || isBeingDeleted(metadata) || storageClass === undefined)
    return undefined;
  if (isDelayed(storageClass) && ownValue(metadata.annotations, selectedNode) === undefined) return undefined;
  const { namespace, name, uid, resourceVersion } = metadata;
  const volumeName = `pvc-${uid}`;
  const isDeletedHere = storageClass.reclaimPolicy === 'Delete';
  return {
    metadata: {
      name: volumeName,
      annotations: { [provisionedBy]: hollowDriver },
      ...(isDeletedHere && { finalizers: [finalizer] }),
    },
    spec: {
      accessModes: [...(spec.accessModes ?? [])],
      capacity: { storage: ownValue(spec.resources?.requests, 'storage') ?? '0' },
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion },
      csi: { driver: hollowDriver, volumeHandle: volumeName },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy,
      storageClassName: storageClass.metadata.name,
      volumeMode: spec.volumeMode,
      volumeAttributesClassName: spec.volumeAttributesClassName,
    },
  };
}

/**
 * The next step for a volume of this provisioner. An attached or bound volume stays. The finalizer of a terminating volume
 * is removed whatever its policy is: a user may have changed the policy, or cleared the claimRef, after the volume was made.
 */
export function planDeletion(
  volume: Cached<PersistentVolume>,
  isAttached: boolean,
): 'delete' | 'remove-finalizer' | undefined {
  const { metadata, spec, status } = volume;
  if (ownValue(metadata.annotations, provisionedBy) !== hollowDriver || isAttached) return undefined;
  if (isBeingDeleted(metadata)) {
    const isHeld = (metadata.finalizers ?? []).includes(finalizer);
    return isHeld && status?.phase !== 'Bound' ? 'remove-finalizer' : undefined;
  }
  return spec.persistentVolumeReclaimPolicy === 'Delete' && status?.phase === 'Released' ? 'delete' : undefined;
}

const byVolume = defineIndex<VolumeAttachment>('volume', ({ spec }) => {
  const { persistentVolumeName } = spec.source;
  return persistentVolumeName === undefined ? [] : [persistentVolumeName];
});

export interface ProvisionerOptions {
  readonly client: Client;
  readonly informers: InformerFactory;
  readonly queues: Record<'claims' | 'volumes', WorkQueue<ObjectKey>>;
}

export interface ProvisionerSimulation extends ClaimGate {
  readonly registrations: readonly HandlerRegistration[];
  readonly reconcileClaim: Reconcile;
  readonly reconcileVolume: Reconcile;
}

/** Provisions, expands and deletes the volumes of the simulated driver, like an external provisioner and resizer. */
export function simulateProvisioner({ client, informers, queues }: ProvisionerOptions): ProvisionerSimulation {
  const claims = informers.informerFor(PersistentVolumeClaims);
  const volumes = informers.informerFor(PersistentVolumes);
  const classes = informers.informerFor(StorageClasses);
  const attachments = informers.informerFor(VolumeAttachments);
  attachments.addIndex(byVolume);
  for (const index of [freeVolumesByClass, volumesByClaim]) volumes.addIndex(index);
  const classOf = (claim: Claim): Class | undefined => classes.store.get(objectKey(undefined, classOfClaim(claim)));
  const enqueueTo = (queue: WorkQueue<ObjectKey>) => ({
    added: (object: Cached<KubeObject>) => queue.add(keyOf(object)),
    updated: (_before: unknown, object: Cached<KubeObject>) => queue.add(keyOf(object)),
  });

  return {
    registrations: [
      claims.addHandler(enqueueTo(queues.claims)),
      volumes.addHandler(enqueueTo(queues.volumes)),
      // A claim that grows may be observed before its volume.
      volumes.addHandler({
        added({ spec: { claimRef } }) {
          if (claimRef !== undefined) queues.claims.add(objectKey(claimRef.namespace, claimRef.name ?? ''));
        },
      }),
      attachments.addHandler({
        deleted: ({ spec: { source } }) => queues.volumes.add(objectKey(undefined, source.persistentVolumeName ?? '')),
      }),
      classes.addHandler({}),
    ],
    async reconcileClaim(key, signal) {
      const claim = claims.store.get(key);
      if (claim === undefined) return {};
      const volume = planVolume(claim, classOf(claim));
      const resize = planResize(claim, volumes.store.get(objectKey(undefined, claim.spec.volumeName ?? '')));
      if (volume !== undefined) await createIfMissing(client, PersistentVolumes, volume, signal);
      if (resize !== undefined) await applyResize(client, claim, resize, signal);
      return {};
    },
    async reconcileVolume(key, signal) {
      const volume = volumes.store.get(key);
      if (volume === undefined) return {};
      const step = planDeletion(volume, attachments.store.countByIndex(byVolume, volume.metadata.name) > 0);
      if (step !== undefined) await deleteVolume(client, volume, step, signal);
      return {};
    },
    ...createClaimGate({ client, claims: claims.store, volumes: volumes.store, classOf }),
  };
}

async function deleteVolume(
  client: Client,
  volume: Cached<PersistentVolume>,
  step: 'delete' | 'remove-finalizer',
  signal: AbortSignal,
): Promise<void> {
  const { finalizers = [], resourceVersion } = volume.metadata;
  const others = finalizers.filter((name) => name !== finalizer);
  const body = { metadata: { resourceVersion, finalizers: others } };
  try {
    if (step === 'delete') await client.delete(PersistentVolumes, keyOf(volume), {}, signal);
    else await client.patch(metadataOf(PersistentVolumes), keyOf(volume), { type: 'merge', body }, signal);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error; // the next state of the object enqueues it
  }
}

/** Creates the class, unless it is there. */
export async function createSandboxClass(client: Client, signal: AbortSignal): Promise<void> {
  await createIfMissing(client, StorageClasses, sandboxClass, signal);
}

async function createIfMissing<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  object: Unsaved<T>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create<KubeObject>(metadataOf(kind), object, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
