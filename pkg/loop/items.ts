import {
  controllerOf,
  CronJobs,
  DaemonSets,
  Deployments,
  EndpointSlices,
  Jobs,
  Nodes,
  PersistentVolumeClaims,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  resourceName,
  Services,
  StatefulSets,
  isBeingDeleted,
  type Cached,
  type EndpointSlice,
  type Kind,
  type KubeObject,
  type Pod,
} from '../api/index.ts';
import type { Filter, Item } from './protocol.ts';
import {
  showClaim,
  showCronJob,
  showDaemonSet,
  showDeployment,
  showEndpointSlice,
  showJob,
  showNode,
  showPod,
  showReplicaSet,
  showService,
  showStatefulSet,
  type Shown,
} from './states.ts';

/** A kind in the picture of the cluster. */
export interface ShownKind<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  toItem(object: Cached<T>): Item;
}

/** The kinds in the picture: owners before what they own. */
export const shownKinds: readonly ShownKind[] = [
  shown(Nodes, showNode),
  shown(Deployments, showDeployment),
  shown(StatefulSets, showStatefulSet),
  shown(DaemonSets, showDaemonSet),
  shown(CronJobs, showCronJob),
  shown(Jobs, showJob),
  shown(ReplicationControllers, (object) => showReplicaSet(object as Parameters<typeof showReplicaSet>[0])),
  shown(ReplicaSets, showReplicaSet),
  shown(Services, showService),
  shown(EndpointSlices, showEndpointSlice, (slice) => ({ targets: targetsOf(slice) })),
  shown(PersistentVolumeClaims, showClaim),
  shown(Pods, showPod, ({ spec }: Cached<Pod>) => (spec.nodeName === undefined ? {} : { node: spec.nodeName })),
];

function shown<T extends KubeObject>(
  kind: Kind<T>,
  show: (object: Cached<T>) => Shown,
  more: (object: Cached<T>) => Partial<Item> = () => ({}),
): ShownKind {
  const toItem = (object: Cached<T>): Item => ({ ...baseItem(kind, object), ...show(object), ...more(object) });
  return { kind, toItem }; // in a list of kinds of every type, each with its own functions
}

function baseItem(
  kind: Kind,
  object: Cached<KubeObject>,
): Pick<Item, 'id' | 'kind' | 'resource' | 'namespace' | 'name' | 'owner'> {
  const { uid, namespace, name } = object.metadata;
  const owner = ownerUidOf(object);
  return {
    id: uid,
    kind: kind.kind,
    resource: resourceName(kind),
    name,
    ...(namespace !== undefined && { namespace }),
    ...(owner !== undefined && { owner }),
  };
}

/** The controller of an object, or the Service of a slice that names it as an ordinary owner. */
export function ownerUidOf(object: Cached<KubeObject>): string | undefined {
  const { ownerReferences } = object.metadata;
  return controllerOf(object)?.uid ?? ownerReferences?.find(({ kind }) => kind === 'Service')?.uid;
}

function targetsOf({ endpoints }: Cached<EndpointSlice>): readonly string[] {
  return (endpoints ?? []).map(({ targetRef }) => targetRef?.uid).filter((uid) => uid !== undefined);
}

/** An object of any kind: only its metadata and its phase are told. */
export function plainItem(kind: Kind, object: Cached<KubeObject>): Item {
  const { status } = object as { readonly status?: { readonly phase?: unknown } | undefined };
  const phase = typeof status?.phase === 'string' ? status.phase : undefined;
  const base = baseItem(kind, object);
  if (isBeingDeleted(object.metadata)) return { ...base, state: 'busy', text: 'terminating' };
  return { ...base, state: 'good', text: phase ?? 'exists' };
}

export function itemOf(kind: Kind, object: Cached<KubeObject>): Item {
  const known = shownKinds.find((each) => resourceName(each.kind) === resourceName(kind));
  return kind.metadataOnly === true || known === undefined ? plainItem(kind, object) : known.toItem(object);
}

/** Whether a filter shows the object. Nodes are shown with every namespace. */
export function isShown(kind: Kind, { metadata }: Cached<KubeObject>, filter: Filter): boolean {
  if (isSet(filter.namespace) && kind.namespaced && metadata.namespace !== filter.namespace) return false;
  if (isSet(filter.kind) && kind.kind !== filter.kind) return false;
  return !isSet(filter.name) || metadata.name.includes(filter.name);
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
