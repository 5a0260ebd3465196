import type { Cached, Endpoint, EndpointPort, EndpointSlice } from '../../pkg/api/index.ts';
import { endpointId, isSameEndpoint } from '../../pkg/endpoints/index.ts';

/** A slice to write. */
export interface SliceDraft {
  /** The stored slice to update. Undefined for a new slice. */
  readonly base?: Cached<EndpointSlice> | undefined;
  /** Replace the metadata of `base` too: it was a slice with other ports that would have been deleted. */
  readonly recycled?: true;
  readonly ports: readonly Cached<EndpointPort>[];
  readonly endpoints: readonly Cached<Endpoint>[];
}

export interface Packing {
  readonly create: readonly SliceDraft[];
  readonly update: readonly SliceDraft[];
  readonly remove: readonly Cached<EndpointSlice>[];
  readonly added: number;
  readonly removed: number;
}

export interface PackingInput {
  /** The existing slices with this address family and these ports. */
  readonly existing: readonly Cached<EndpointSlice>[];
  readonly desired: readonly Cached<Endpoint>[];
  readonly ports: readonly Cached<EndpointPort>[];
  readonly maxPerSlice: number;
  /** Whether the labels of a slice are outdated. */
  readonly hasOldLabels: (slice: Cached<EndpointSlice>) => boolean;
}

/** A slice that is being filled. */
interface Open {
  readonly base: Cached<EndpointSlice> | undefined;
  readonly endpoints: Cached<Endpoint>[];
}

/**
 * Distributes endpoints over slices with as few writes as possible, not with as few slices as possible: every write is
 * sent to every node. Endpoints stay in their slice. New endpoints fill slices that are written anyway, the fullest
 * first. The rest goes into one slice with enough room, or into new slices.
 */
export function packEndpoints({ existing, desired, ports, maxPerSlice, hasOldLabels }: PackingInput): Packing {
  const left = new Map<string, Cached<Endpoint>>();
  for (const endpoint of desired) left.set(endpointId(endpoint), endpoint);
  const { changed, unchanged, remove, removed } = keepEndpoints(existing, left, hasOldLabels);
  const added = left.size;
  const fill = (open: Open): void => {
    for (const [id, endpoint] of left) {
      if (open.endpoints.length >= maxPerSlice) return;
      left.delete(id);
      open.endpoints.push(endpoint);
    }
  };

  for (const open of changed.toSorted((a, b) => b.endpoints.length - a.endpoints.length)) fill(open);
  const create: Open[] = [];
  while (left.size > 0) {
    const base = left.size < maxPerSlice ? fullestWithRoom(unchanged, left.size, maxPerSlice) : undefined;
    const open: Open = { base, endpoints: [...(base?.endpoints ?? [])] };
    fill(open);
    if (base === undefined) create.push(open);
    else changed.push(open);
  }
  const draftOf = ({ base, endpoints }: Open): SliceDraft => ({ base, ports, endpoints });
  return { create: create.map(draftOf), update: changed.map(draftOf), remove, added, removed };
}

/** Removes the endpoints that already are in a slice from `left`. */
function keepEndpoints(
  existing: readonly Cached<EndpointSlice>[],
  left: Map<string, Cached<Endpoint>>,
  hasOldLabels: PackingInput['hasOldLabels'],
): {
  readonly changed: Open[];
  readonly unchanged: readonly Cached<EndpointSlice>[];
  readonly remove: readonly Cached<EndpointSlice>[];
  readonly removed: number;
} {
  const changed: Open[] = [];
  const unchanged: Cached<EndpointSlice>[] = [];
  const remove: Cached<EndpointSlice>[] = [];
  let removed = 0;
  for (const base of existing) {
    const endpoints: Cached<Endpoint>[] = [];
    const before = base.endpoints ?? [];
    let isUpdated = false;
    for (const endpoint of before) {
      const id = endpointId(endpoint);
      const wanted = left.get(id);
      if (wanted === undefined) continue;
      left.delete(id);
      endpoints.push(wanted);
      isUpdated ||= !isSameEndpoint(wanted, endpoint);
    }
    removed += before.length - endpoints.length;
    if (isUpdated || endpoints.length !== before.length) {
      if (endpoints.length === 0) remove.push(base);
      else changed.push({ base, endpoints });
    } else if (hasOldLabels(base)) {
      changed.push({ base, endpoints: [...before] });
    } else {
      unchanged.push(base);
    }
  }
  return { changed, unchanged, remove, removed };
}

/** The fullest slice with room for `count` more endpoints; undefined if there is none. */
function fullestWithRoom(
  slices: readonly Cached<EndpointSlice>[],
  count: number,
  maxPerSlice: number,
): Cached<EndpointSlice> | undefined {
  let best: Cached<EndpointSlice> | undefined;
  let leastRoom = maxPerSlice;
  for (const slice of slices) {
    const room = maxPerSlice - count - (slice.endpoints ?? []).length;
    if (room >= 0 && room < leastRoom) [best, leastRoom] = [slice, room];
  }
  return best;
}

/** The slices that are neither updated nor removed. */
export function untouched(
  existing: readonly Cached<EndpointSlice>[],
  { update, remove }: Pick<Packing, 'update' | 'remove'>,
): Cached<EndpointSlice>[] {
  const touched = new Set<Cached<EndpointSlice> | undefined>([...update.map(({ base }) => base), ...remove]);
  return existing.filter((slice) => !touched.has(slice));
}
