import {
  controllerReference,
  isEqualJson,
  Services,
  isBeingDeleted,
  type Cached,
  type Endpoint,
  type EndpointSlice,
  type Labels,
  type Node,
  type ObjectMeta,
  type Pod,
  type Service,
  type Unsaved,
} from '../../pkg/api/index.ts';
import {
  headlessLabel,
  isEndpoint,
  isHeadless,
  managedByLabel,
  portMapKey,
  portResolver,
  serviceNameLabel,
  sliceNamePrefix,
  triggerTimeAnnotation,
  type PortMap,
  type SliceChanges,
} from '../../pkg/endpoints/index.ts';
import { type IpFamily } from '../../pkg/ip/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { hintByDistribution, removeHints, wantsTopologyHints } from './hints.ts';
import { packEndpoints, untouched, type Packing, type SliceDraft } from './packing.ts';
import { endpointOf } from './pod-endpoint.ts';
import { hintByTopology, type ZoneShares } from './topology-hints.ts';

/** The value of the managed-by label on slices of this controller. */
export const managedBy = 'endpointslice-controller.k8s.io';

/** The input for the slices of one Service in one address family. */
export interface Snapshot {
  readonly service: Cached<Service>;
  readonly family: IpFamily;
  readonly pods: readonly Cached<Pod>[];
  /** The nodes of the pods, by name, as far as the cache has them. */
  readonly nodes: ReadonlyMap<string, Cached<Node>>;
  /** The slices of this family that this controller manages, without terminating ones. */
  readonly existing: readonly Cached<EndpointSlice>[];
  readonly maxPerSlice: number;
  /** The time of the change that triggered this sync. */
  readonly triggerTime: string | undefined;
  readonly trafficDistribution: string | undefined;
  readonly shares: ZoneShares | undefined;
  /** Whether the Service already has hints by topology. */
  readonly hadHints: boolean;
}

export interface Plan {
  readonly changes: SliceChanges;
  /** Hints by topology for each zone; undefined if there are none. */
  readonly hintsByZone: ReadonlyMap<string, number> | undefined;
  readonly events: readonly NewEvent[];
  /** A message for each pod that was skipped because its node is not in the cache. */
  readonly skipped: readonly string[];
  readonly added: number;
  readonly removed: number;
  /** The numbers of endpoints and slices for each combination of ports. */
  readonly portGroups: readonly { readonly endpoints: number; readonly slices: number }[];
}

export function planFamily(snapshot: Snapshot): Plan {
  const { service } = snapshot;
  const labels = labelsOf(service);
  const { groups, skipped } = desiredGroups(snapshot);
  const packed = packGroups(snapshot, groups, labels);
  const hinted = hint(snapshot, packed);
  const { create, update, remove } = recycle(hinted.create, hinted.update, packed.remove, service);
  const objectOf = (draft: SliceDraft): Unsaved<EndpointSlice> => sliceOf(draft, snapshot, labels);
  return {
    changes: {
      // The garbage collector deletes the slices of a terminating Service: create no new ones.
      create: !isBeingDeleted(service.metadata) ? create.map(objectOf) : [],
      update: update.map(objectOf),
      delete: remove,
    },
    hintsByZone: hinted.byZone,
    events: hinted.events,
    skipped,
    added: packed.added,
    removed: packed.removed,
    portGroups: packed.portGroups,
  };
}

interface DesiredGroup extends PortMap {
  readonly endpoints: Endpoint[];
}

function desiredGroups({ service, family, pods, nodes }: Snapshot): {
  readonly groups: ReadonlyMap<string, DesiredGroup>;
  readonly skipped: readonly string[];
} {
  const { namespace = '', name } = service.metadata;
  const portsOf = portResolver(service);
  const groups = new Map<string, DesiredGroup>();
  const skipped: string[] = [];
  for (const pod of pods) {
    if (!isEndpoint(pod, { includeTerminating: true })) continue;
    const { key, ports } = portsOf(pod);
    let group = groups.get(key);
    if (group === undefined) groups.set(key, (group = { key, ports, endpoints: [] }));
    const { nodeName = '' } = pod.spec;
    const node = nodes.get(nodeName);
    if (node === undefined && service.spec.publishNotReadyAddresses !== true) {
      // The node may not be in the cache yet, or may be deleted. Skip the pod, and let the error requeue the Service.
      skipped.push(`skipping Pod ${pod.metadata.name} for Service ${namespace}/${name}: Node ${nodeName} Not Found`);
      continue;
    }
    const endpoint = endpointOf(pod, node, service, family);
    if (endpoint !== undefined) group.endpoints.push(endpoint);
  }
  return { groups, skipped };
}

interface Packed extends Packing {
  readonly portGroups: Plan['portGroups'];
}

function packGroups(snapshot: Snapshot, groups: ReadonlyMap<string, DesiredGroup>, labels: Labels): Packed {
  const { service, existing, maxPerSlice } = snapshot;
  const create: SliceDraft[] = [];
  const update: SliceDraft[] = [];
  // Slices of an earlier Service of this name: the garbage collector deletes them later, but proxies must not use them.
  const remove = existing.filter((slice) => !isOwnedBy(slice, service));
  const portGroups: Plan['portGroups'][number][] = [];
  let [added, removed] = [0, 0];
  const owned = Map.groupBy(
    existing.filter((slice) => isOwnedBy(slice, service)),
    ({ ports }) => portMapKey(ports),
  );
  const hasOldLabels = (slice: Cached<EndpointSlice>): boolean =>
    !isEqualJson(withoutReserved(slice.metadata.labels), withoutReserved(labels));
  for (const { key, ports, endpoints } of groups.values()) {
    const present = owned.get(key) ?? [];
    const packed = packEndpoints({ existing: present, desired: endpoints, ports, maxPerSlice, hasOldLabels });
    create.push(...packed.create);
    update.push(...packed.update);
    remove.push(...packed.remove);
    added += packed.added;
    removed += packed.removed;
    const slices = present.length + packed.create.length - packed.remove.length;
    portGroups.push({ endpoints: endpoints.length, slices });
  }
  for (const [key, slices] of owned) if (!groups.has(key)) remove.push(...slices);

  if (remove.length === existing.length && create.length === 0) {
    // Consumers cannot tell a Service without slices from one that has not been synced yet. So create an empty slice.
    portGroups.push({ endpoints: 0, slices: 1 });
    const [only] = remove;
    if (remove.length === 1 && only !== undefined && isPlaceholder(only, labels)) remove.length = 0;
    else create.push({ ports: [], endpoints: [] });
  }
  return { create, update, remove, added, removed, portGroups };
}

function isPlaceholder({ ports, endpoints, metadata }: Cached<EndpointSlice>, labels: Labels): boolean {
  return (ports ?? []).length === 0 && (endpoints ?? []).length === 0 && isEqualJson(metadata.labels ?? {}, labels);
}

interface HintedPacking {
  readonly create: readonly SliceDraft[];
  readonly update: readonly SliceDraft[];
  readonly byZone: ReadonlyMap<string, number> | undefined;
  readonly events: readonly NewEvent[];
}

function hint(snapshot: Snapshot, packed: Packed): HintedPacking {
  const { service, family, existing, shares, hadHints, trafficDistribution } = snapshot;
  const input = { create: packed.create, update: packed.update, unchanged: untouched(existing, packed) };
  if (wantsTopologyHints(service)) {
    const { event, ...hinted } = hintByTopology(input, { shares, family, hadHints });
    return { ...hinted, events: event === undefined ? [] : [event] };
  }
  const message = `Topology Aware Hints has been disabled, addressType: ${family}`;
  const events: NewEvent[] = hadHints ? [{ type: 'Warning', reason: 'TopologyAwareHintsDisabled', message }] : [];
  const hinted =
    trafficDistribution === undefined ? removeHints(input) : hintByDistribution(input, trafficDistribution);
  return { ...hinted, byZone: undefined, events };
}

/** Turns a creation and a deletion into one update. */
function recycle(
  create: readonly SliceDraft[],
  update: readonly SliceDraft[],
  remove: readonly Cached<EndpointSlice>[],
  service: Cached<Service>,
): { readonly create: SliceDraft[]; readonly update: SliceDraft[]; readonly remove: Cached<EndpointSlice>[] } {
  const toCreate = [...create];
  const toUpdate = [...update];
  const toRemove = remove.filter((slice) => {
    const draft = isOwnedBy(slice, service) ? toCreate.pop() : undefined;
    if (draft !== undefined) toUpdate.push({ ...draft, base: slice, recycled: true });
    return draft === undefined;
  });
  return { create: toCreate, update: toUpdate, remove: toRemove };
}

function isOwnedBy({ metadata }: Cached<EndpointSlice>, service: Cached<Service>): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === 'Service' && apiVersion === 'v1',
  );
}

const reservedLabels: ReadonlySet<string> = new Set([serviceNameLabel, managedByLabel, headlessLabel]);

function withoutReserved(labels: Labels | undefined): Labels {
  return Object.fromEntries(Object.entries(labels ?? {}).filter(([name]) => !reservedLabels.has(name)));
}

/** The labels of the Service, plus the labels for Service name and manager. */
function labelsOf(service: Cached<Service>): Labels {
  return {
    ...withoutReserved(service.metadata.labels),
    ...(isHeadless(service) && { [headlessLabel]: '' }),
    [serviceNameLabel]: service.metadata.name,
    [managedByLabel]: managedBy,
  };
}

function sliceOf(draft: SliceDraft, snapshot: Snapshot, labels: Labels): Unsaved<EndpointSlice> {
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: metadataOf(draft, snapshot, labels),
    addressType: snapshot.family,
    endpoints: draft.endpoints,
    ports: draft.ports,
  };
  return slice as Unsaved<EndpointSlice>; // serializing does not modify endpoints from the cache
}

function metadataOf({ base, recycled }: SliceDraft, { service, triggerTime }: Snapshot, labels: Labels): ObjectMeta {
  const isKept = base !== undefined && recycled === undefined;
  const { [triggerTimeAnnotation]: _last, ...kept } = (isKept && base.metadata.annotations) || {};
  const annotations = triggerTime === undefined ? kept : { ...kept, [triggerTimeAnnotation]: triggerTime };
  if (isKept) return { ...(base.metadata as ObjectMeta), labels: { ...labels }, annotations };
  const { namespace, name } = service.metadata;
  const metadata: ObjectMeta = {
    namespace,
    generateName: sliceNamePrefix(name),
    labels: { ...labels },
    annotations,
    ownerReferences: [controllerReference(Services, service)],
  };
  if (base === undefined) return metadata;
  const { name: sliceName, uid, resourceVersion } = base.metadata;
  return { ...metadata, name: sliceName, uid, resourceVersion };
}
