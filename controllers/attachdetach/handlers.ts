import {
  keyOf,
  objectKey,
  type Cached,
  type CSIDriver,
  type Node,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  isEqualJson,
  type VolumeAttachment,
} from '../../pkg/api/index.ts';
import { podsByClaim, podsByNode } from '../../pkg/controller/index.ts';
import type { Handler, HandlerRegistration, Informer } from '../../informers/index.ts';
import { isPodStopped } from '../../pkg/pods/index.ts';
import { mayHaveAttached } from '../../pkg/volumes/index.ts';
import { isHealthy, isManagedNode, isOutOfService } from './node-facts.ts';
import { attaches, podsByInlineDriver, volumesByDriver } from './pod-volumes.ts';
import type { World } from './world.ts';

export interface HandlerDeps {
  readonly world: World;
  readonly informers: {
    readonly pods: Informer<Pod>;
    readonly nodes: Informer<Node>;
    readonly claims: Informer<PersistentVolumeClaim>;
    readonly volumes: Informer<PersistentVolume>;
    readonly drivers: Informer<CSIDriver>;
    readonly attachments: Informer<VolumeAttachment>;
  };
  readonly queues: {
    readonly pods: { add(key: ObjectKey): void };
    readonly volumes: { add(volumeName: string): void };
    readonly nodes: { add(key: ObjectKey): void };
  };
}

export function registerHandlers(deps: HandlerDeps): HandlerRegistration[] {
  const { attachments, claims, drivers, nodes, pods, volumes } = deps.informers;
  for (const index of [podsByClaim, podsByNode, podsByInlineDriver]) pods.addIndex(index);
  volumes.addIndex(volumesByDriver);
  return [
    pods.addHandler(podHandler(deps)),
    claims.addHandler(claimHandler(deps)),
    volumes.addHandler(volumeHandler(deps)),
    drivers.addHandler(driverHandler(deps)),
    nodes.addHandler(nodeHandler(deps)),
    attachments.addHandler(attachmentHandler(deps)),
  ];
}

function podHandler({ queues }: HandlerDeps): Handler<Pod> {
  const enqueue = (pod: Cached<Pod>): void => {
    if (mayHaveAttached(pod)) queues.pods.add(keyOf(pod));
  };
  return {
    added: enqueue,
    updated(before, after) {
      const isConcerned = before.spec.nodeName !== after.spec.nodeName || isPodStopped(before) !== isPodStopped(after);
      if (isConcerned || before.metadata.uid !== after.metadata.uid) enqueue(after);
    },
    deleted: enqueue,
  };
}

function claimHandler({ informers: { pods }, queues }: HandlerDeps): Handler<PersistentVolumeClaim> {
  const enqueue = (claim: Cached<PersistentVolumeClaim>): void => {
    if (claim.status?.phase !== 'Bound') return;
    for (const pod of pods.store.byIndex(podsByClaim, keyOf(claim))) queues.pods.add(keyOf(pod));
  };
  return {
    added: enqueue,
    updated(before, after) {
      const isSame = before.status?.phase === after.status?.phase && before.spec?.volumeName === after.spec?.volumeName;
      if (!isSame) enqueue(after);
    },
  };
}

/** The cache may have a bound claim before it has the volume that the claim is bound to. */
function volumeHandler(deps: HandlerDeps): Handler<PersistentVolume> {
  const enqueue = (volume: Cached<PersistentVolume>): void => enqueuePodsOf(volume, deps);
  return {
    added: enqueue,
    updated(before, after) {
      if (before.spec.claimRef?.uid !== after.spec.claimRef?.uid) enqueue(after);
    },
  };
}

function enqueuePodsOf(
  { spec: { claimRef } }: Cached<PersistentVolume>,
  { informers: { pods }, queues }: HandlerDeps,
): void {
  if (claimRef === undefined) return;
  const claim = objectKey(claimRef.namespace, claimRef.name ?? '');
  for (const pod of pods.store.byIndex(podsByClaim, claim)) queues.pods.add(keyOf(pod));
}

function driverHandler(deps: HandlerDeps): Handler<CSIDriver> {
  const enqueue = ({ metadata: { name } }: Cached<CSIDriver>): void => {
    for (const volume of deps.informers.volumes.store.byIndex(volumesByDriver, name)) enqueuePodsOf(volume, deps);
    for (const pod of deps.informers.pods.store.byIndex(podsByInlineDriver, name)) deps.queues.pods.add(keyOf(pod));
  };
  const enqueueUnattached = (driver: Cached<CSIDriver>): void => {
    if (!attaches(driver)) enqueue(driver); // a driver without a CSIDriver attaches
  };
  return {
    added: enqueueUnattached,
    updated(before, after) {
      if (attaches(before) !== attaches(after)) enqueue(after);
    },
    deleted: enqueueUnattached,
  };
}

function nodeHandler({ informers: { pods }, queues, world }: HandlerDeps): Handler<Node> {
  const enqueueVolumes = (nodeName: string): void => {
    for (const volumeName of world.actual.volumesOn(nodeName)) queues.volumes.add(volumeName);
  };
  const observe = (node: Cached<Node>): void => {
    const { name } = node.metadata;
    if (!isManagedNode(node) || world.desired.isManaged(name)) return;
    world.desired.manage(name);
    for (const pod of pods.store.byIndex(podsByNode, name)) if (mayHaveAttached(pod)) queues.pods.add(keyOf(pod));
  };
  return {
    added(node) {
      world.nodes.forget(node.metadata.name);
      observe(node);
      queues.nodes.add(keyOf(node)); // a new Node of the name has lost what was reported
      enqueueVolumes(node.metadata.name);
    },
    updated(before, after) {
      observe(after);
      if (!isEqualJson(before.status?.volumesAttached, after.status?.volumesAttached)) queues.nodes.add(keyOf(after));
      const isSame =
        isHealthy(before) === isHealthy(after) &&
        isOutOfService(before) === isOutOfService(after) &&
        isEqualJson(before.status?.volumesInUse, after.status?.volumesInUse);
      if (!isSame) enqueueVolumes(after.metadata.name);
    },
    deleted(last) {
      const { name } = last.metadata;
      if (world.actual.volumesOn(name).size > 0) world.nodes.deleted(last);
      world.desired.forgetNode(name);
      queues.nodes.add(keyOf(last));
      enqueueVolumes(name);
    },
  };
}

function attachmentHandler({ queues, world }: HandlerDeps): Handler<VolumeAttachment> {
  const enqueue = ({ metadata }: Cached<VolumeAttachment>): void => {
    const volumeName = world.own.volumeOf(metadata.name);
    if (volumeName !== undefined) queues.volumes.add(volumeName);
  };
  return { added: enqueue, updated: (_before, after) => enqueue(after), deleted: enqueue };
}
