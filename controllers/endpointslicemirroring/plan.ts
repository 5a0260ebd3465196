import {
  controllerReference,
  EndpointsKind,
  isEqualJson,
  isBeingDeleted,
  type Cached,
  type Endpoints,
  type EndpointSlice,
  type ObjectMeta,
  type Unsaved,
} from '../../pkg/api/index.ts';
import {
  endpointId,
  isSameEndpoint,
  leaderAnnotation,
  managedByLabel,
  portMapKey,
  serviceNameLabel,
  sliceNamePrefix,
  triggerTimeAnnotation,
  type SliceChanges,
} from '../../pkg/endpoints/index.ts';
import { groupKey, type Desired, type MirrorGroup } from './desired.ts';

/** The value of the managed-by label on slices of this controller. */
export const managedBy = 'endpointslicemirroring-controller.k8s.io';

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
const skipLabel = 'endpointslice.kubernetes.io/skip-mirror';

/** False for Endpoints with the skip-mirror label, and for Endpoints used for leader election. */
export function isMirrored({ metadata: { labels, annotations } }: Cached<Endpoints>): boolean {
  return labels?.[skipLabel] !== 'true' && annotations?.[leaderAnnotation] === undefined;
}

export interface MirrorPlan {
  readonly changes: SliceChanges;
  readonly added: number;
  readonly updated: number;
  readonly removed: number;
  /** The numbers of endpoints and slices for each combination of ports. */
  readonly portGroups: readonly { readonly endpoints: number; readonly slices: number }[];
}

/** Plans one slice for each group: the first existing slice, or a new one. */
export function planMirror(
  endpoints: Cached<Endpoints>,
  { groups }: Desired,
  existing: readonly Cached<EndpointSlice>[],
): MirrorPlan {
  const create: MirrorGroup[] = [];
  const update: { readonly group: MirrorGroup; readonly base: Cached<EndpointSlice> }[] = [];
  const remove: Cached<EndpointSlice>[] = [];
  const portGroups: MirrorPlan['portGroups'][number][] = [];
  const totals = { added: 0, updated: 0, removed: 0 };
  const present = Map.groupBy(existing, (slice) => groupKey(slice.addressType, portMapKey(slice.ports)));
  for (const [key, group] of groups) {
    const [base, ...superfluous] = present.get(key) ?? [];
    present.delete(key);
    const size = group.endpoints.size;
    portGroups.push({ endpoints: size, slices: size === 0 ? 0 : 1 });
    remove.push(...superfluous);
    if (size === 0) {
      if (base !== undefined) remove.push(base);
      for (const slice of [base, ...superfluous]) totals.removed += slice?.endpoints?.length ?? 0;
    } else if (base === undefined) {
      create.push(group);
      totals.added += size;
    } else if (isOutdated(base, group, endpoints, totals)) {
      update.push({ group, base });
    }
  }
  for (const slices of present.values()) remove.push(...slices);
  return { ...totals, portGroups, changes: recycle({ create, update, remove }, endpoints) };
}

function isOutdated(
  base: Cached<EndpointSlice>,
  { endpoints: wanted }: MirrorGroup,
  endpoints: Cached<Endpoints>,
  totals: { added: number; updated: number; removed: number },
): boolean {
  let [kept, updated] = [0, 0];
  const before = base.endpoints ?? [];
  for (const endpoint of before) {
    const match = wanted.get(endpointId(endpoint));
    if (match === undefined) continue;
    kept += 1;
    if (!isSameEndpoint(match, endpoint)) updated += 1;
  }
  totals.added += wanted.size - kept;
  totals.updated += updated;
  totals.removed += before.length - kept;
  return (
    updated > 0 ||
    kept !== wanted.size ||
    kept !== before.length ||
    !isEqualJson(ownLabels(base.metadata.labels), ownLabels(endpoints.metadata.labels)) ||
    !isEqualJson(base.metadata.annotations ?? {}, annotationsOf(endpoints)) ||
    !isOwned(base, endpoints)
  );
}

/** Recreated Endpoints have another uid: the garbage collector would delete a slice that refers to the old one. */
function isOwned({ metadata }: Cached<EndpointSlice>, { metadata: { name, uid } }: Cached<Endpoints>): boolean {
  return (metadata.ownerReferences ?? []).every(
    (owner) => owner.kind !== 'Endpoints' || owner.name !== name || owner.uid === uid,
  );
}

function ownLabels(labels: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const { [managedByLabel]: _manager, [serviceNameLabel]: _service, ...own } = labels ?? {};
  return own;
}

function annotationsOf({ metadata }: Cached<Endpoints>): Record<string, string> {
  const { [triggerTimeAnnotation]: _time, [lastAppliedAnnotation]: _applied, ...own } = metadata.annotations ?? {};
  return own;
}

/** Turns a creation and a deletion in the same family into one update. */
function recycle(
  planned: {
    readonly create: readonly MirrorGroup[];
    readonly update: readonly { readonly group: MirrorGroup; readonly base: Cached<EndpointSlice> }[];
    readonly remove: readonly Cached<EndpointSlice>[];
  },
  endpoints: Cached<Endpoints>,
): SliceChanges {
  const update = planned.update.map(({ group, base }) => sliceOf(group, endpoints, base));
  const create: Unsaved<EndpointSlice>[] = [];
  const remove = [...planned.remove];
  for (const group of planned.create) {
    const index = remove.findIndex(({ addressType }) => addressType === group.family);
    const [base] = index < 0 ? [] : remove.splice(index, 1);
    (base === undefined ? create : update).push(sliceOf(group, endpoints, base));
  }
  // The garbage collector deletes the slices of terminating Endpoints: create no new ones.
  return { create: !isBeingDeleted(endpoints.metadata) ? create : [], update, delete: remove };
}

function sliceOf(
  { family, portMap, endpoints: wanted }: MirrorGroup,
  endpoints: Cached<Endpoints>,
  base: Cached<EndpointSlice> | undefined,
): Unsaved<EndpointSlice> {
  const { namespace, name, labels } = endpoints.metadata;
  const metadata: ObjectMeta = {
    namespace,
    labels: { ...labels, [serviceNameLabel]: name, [managedByLabel]: managedBy },
    annotations: annotationsOf(endpoints),
    ownerReferences: [controllerReference(EndpointsKind, endpoints)],
  };
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata:
      base === undefined ? { ...metadata, generateName: sliceNamePrefix(name) } : { ...metadata, ...identityOf(base) },
    addressType: family,
    endpoints: [...wanted.values()],
    ports: portMap.ports,
  };
  return slice as Unsaved<EndpointSlice>; // serializing does not modify objects from the cache
}

/** Keeps `generateName`, which tells where the name comes from. Go drops it with the first update. */
function identityOf({ metadata }: Cached<EndpointSlice>): ObjectMeta {
  const { name, generateName, uid, resourceVersion } = metadata;
  return { name, uid, resourceVersion, ...(generateName !== undefined && { generateName }) };
}
