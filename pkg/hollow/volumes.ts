import {
  CSIDrivers,
  keyOf,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttachments,
  type Cached,
  type ObjectKey,
  type PersistentVolume,
  type Pod,
} from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { podsByClaim, type Reconcile } from '../controller/index.ts';
import type { HandlerRegistration, InformerFactory } from '../../informers/index.ts';
import type { WorkQueue } from '../../workqueue/index.ts';
import { createAttacher } from './csi.ts';
import { keyOfNode, type Fleet } from './fleet.ts';
import { mayHaveAttached } from '../volumes/index.ts';
import type { VolumeStores } from './pod-volumes.ts';
import { isFree } from './volume-choice.ts';

export function volumeStoresOf(informers: InformerFactory): VolumeStores {
  return {
    claims: informers.informerFor(PersistentVolumeClaims).store,
    volumes: informers.informerFor(PersistentVolumes).store,
    drivers: informers.informerFor(CSIDrivers).store,
  };
}

export interface VolumeSimulationOptions {
  readonly client: Client;
  readonly fleet: Fleet;
  readonly informers: InformerFactory;
  readonly queues: Record<'pods' | 'statuses' | 'attachments', WorkQueue<ObjectKey>>;
  /** A volume that any claim may get. */
  onFree(): void;
}

export interface VolumeSimulation {
  readonly registrations: readonly HandlerRegistration[];
  readonly reconcile: Reconcile;
}

/** The attacher, and what makes nodes report the volumes that their pods use. */
export function simulateVolumes({
  client,
  fleet,
  informers,
  onFree,
  queues,
}: VolumeSimulationOptions): VolumeSimulation {
  const pods = informers.informerFor(Pods);
  const attachments = informers.informerFor(VolumeAttachments);
  const attacher = createAttacher({ client, fleet, attachments: attachments.store, queue: queues.attachments });
  pods.addIndex(podsByClaim);

  const reportFor = (pod: Cached<Pod>): void => {
    const node = mayHaveAttached(pod) ? fleet.find(pod.spec.nodeName) : undefined;
    if (node !== undefined) queues.statuses.add(keyOfNode(node));
  };
  const follow = (claim: ObjectKey): void => {
    for (const pod of pods.store.byIndex(podsByClaim, claim)) {
      reportFor(pod);
      queues.pods.add(keyOf(pod));
    }
  };
  const followVolume = ({ spec: { claimRef } }: Cached<PersistentVolume>): void => {
    if (claimRef !== undefined) follow(objectKey(claimRef.namespace, claimRef.name ?? ''));
  };
  const registrations = [
    pods.addHandler({ added: reportFor, updated: (_before, after) => reportFor(after), deleted: reportFor }),
    informers.informerFor(PersistentVolumeClaims).addHandler({
      updated(before, after) {
        if (before.status?.phase !== after.status?.phase) follow(keyOf(after));
      },
    }),
    informers.informerFor(PersistentVolumes).addHandler({
      added(volume) {
        followVolume(volume);
        if (isFree(volume)) onFree();
      },
      updated(before, after) {
        if (!isFree(before) && isFree(after)) onFree();
        if (before.spec.claimRef?.uid !== after.spec.claimRef?.uid) followVolume(after);
      },
    }),
    informers.informerFor(CSIDrivers).addHandler({}),
    attachments.addHandler(attacher.handler),
  ];
  return { registrations, reconcile: attacher.reconcile };
}
