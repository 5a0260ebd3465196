import {
  controllerOf,
  Deployments,
  objectKey,
  ReplicaSets,
  ReplicationControllers,
  splitApiVersion,
  StatefulSets,
  type Cached,
  type Deployment,
  type KubeObject,
  type OwnerReference,
  type ReplicaSet,
  type ReplicationController,
  type StatefulSet,
} from '../../pkg/api/index.ts';
import type { Informer, InformerFactory, Store } from '../../informers/index.ts';
import type { ControllerScale } from './expectation.ts';

/** The controllers with a cache: no request is needed for their scale. */
export interface ScaleCaches {
  readonly replicationControllers: Informer<ReplicationController>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly deployments: Informer<Deployment>;
  readonly statefulSets: Informer<StatefulSet>;
}

export function scaleCaches(informers: InformerFactory): ScaleCaches {
  return {
    replicationControllers: informers.informerFor(ReplicationControllers),
    replicaSets: informers.informerFor(ReplicaSets),
    deployments: informers.informerFor(Deployments),
    statefulSets: informers.informerFor(StatefulSets),
  };
}

/** `extensions` was once the group of ReplicaSets and Deployments, and old pods may still refer to it. */
const appsGroups = ['apps', 'extensions'];

/**
 * The scale of a pod's controller, from the caches. Undefined if no cache has it, so that the server must be asked. A
 * ReplicaSet of a Deployment counts as the Deployment, and is not used while the Deployment is unknown.
 */
export function findCachedScale(
  reference: Cached<OwnerReference>,
  namespace: string | undefined,
  caches: ScaleCaches,
): ControllerScale | undefined {
  if (refersTo(reference, 'ReplicationController', [''])) {
    return scaleOf(find(caches.replicationControllers.store, reference, namespace));
  }
  if (refersTo(reference, 'StatefulSet', ['apps'])) {
    return scaleOf(find(caches.statefulSets.store, reference, namespace));
  }
  if (!refersTo(reference, 'ReplicaSet', appsGroups)) return undefined;
  const replicaSet = find(caches.replicaSets.store, reference, namespace);
  const parent = replicaSet && controllerOf(replicaSet);
  if (parent?.kind !== 'Deployment') return scaleOf(replicaSet);
  return refersTo(parent, 'Deployment', appsGroups)
    ? scaleOf(find(caches.deployments.store, parent, namespace))
    : undefined;
}

function refersTo(reference: Cached<OwnerReference>, kind: string, groups: readonly string[]): boolean {
  return reference.kind === kind && groups.includes(splitApiVersion(reference.apiVersion).group);
}

function find<T extends KubeObject>(
  store: Store<T>,
  { name, uid }: Cached<OwnerReference>,
  namespace: string | undefined,
): Cached<T> | undefined {
  const object = store.get(objectKey(namespace, name));
  return (object as Cached<KubeObject> | undefined)?.metadata.uid === uid ? object : undefined;
}

function scaleOf(
  object: Cached<ReplicationController | ReplicaSet | Deployment | StatefulSet> | undefined,
): ControllerScale | undefined {
  return object && { kind: 'found', uid: object.metadata.uid, replicas: object.spec.replicas ?? 1 };
}
