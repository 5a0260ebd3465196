import type { Cached, Endpoint, EndpointSlice } from '../../pkg/api/index.ts';
import { isReadyEndpoint } from '../../pkg/endpoints/index.ts';
import { type IpFamily } from '../../pkg/ip/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import { draftOf, removeHints, withHints, type HintInput, type Hinted } from './hints.ts';
import type { SliceDraft } from './packing.ts';

/** An endpoint may get up to 20 % more than its share of the traffic. With more overload, no hints are set. */
const overloadThreshold = 0.2;

/** The share of the cluster's CPUs in each zone. */
export type ZoneShares = ReadonlyMap<string, number>;

export interface TopologyHints extends Hinted {
  /** The number of endpoints for each zone; undefined if there are no hints. */
  readonly byZone: ReadonlyMap<string, number> | undefined;
  readonly event: NewEvent | undefined;
}

/**
 * Assigns every ready endpoint to one zone, so that each zone has endpoints in proportion to its share. An endpoint gets
 * its own zone unless that zone has too many. If this is not possible without overload, removes all hints.
 */
export function hintByTopology(
  input: HintInput,
  options: { readonly shares: ZoneShares | undefined; readonly family: IpFamily; readonly hadHints: boolean },
): TopologyHints {
  const { shares, family, hadHints } = options;
  const withFamily = (message: string): string => `${message}, addressType: ${family}`;
  const disabled = (message: string): TopologyHints => ({
    ...removeHints(input),
    byZone: undefined,
    event: { type: 'Warning', reason: 'TopologyAwareHintsDisabled', message: withFamily(message) },
  });
  const allocations = allocate(shares, countReady(input));
  if (typeof allocations === 'string') return disabled(allocations);

  const byZone = new Map<string, number>();
  const update = [...input.update];
  for (const slice of input.unchanged) {
    const hints = hintsByZone(slice, byZone, allocations);
    if (hints === undefined) update.push(draftOf(slice));
    else for (const [zone, count] of hints) addTo(byZone, zone, count);
  }
  const drafts = [...input.create, ...update];
  for (const { endpoints } of drafts) {
    for (const endpoint of endpoints) {
      if (!isReadyEndpoint(endpoint)) continue;
      if ((endpoint.zone ?? '') === '') return disabled('One or more endpoints do not have a zone specified');
      addTo(byZone, endpoint.zone ?? '', 1);
    }
  }
  if (byZone.size === 0) return disabled('No hints allocated for zones');
  const hinted = assignZones(drafts, allocations, byZone);
  return {
    create: hinted.slice(0, input.create.length),
    update: hinted.slice(input.create.length),
    byZone,
    event: hadHints
      ? undefined
      : {
          type: 'Normal',
          reason: 'TopologyAwareHintsEnabled',
          message: withFamily('Topology Aware Hints has been enabled'),
        },
  };
}

/** Whether a zone has so few of the Service's endpoints that they may be overloaded. */
export function isOverloaded(byZone: ReadonlyMap<string, number>, shares: ZoneShares | undefined): boolean {
  if (byZone.size === 0) return false;
  if (shares === undefined || shares.size === 0) return true;
  const total = byZone.values().reduce((sum, count) => sum + count, 0);
  return shares
    .entries()
    .some(([zone, share]) => (byZone.get(zone) ?? -1) < Math.ceil(total * share * (1 / (1 + overloadThreshold))));
}

interface Allocation {
  readonly minimum: number;
  readonly maximum: number;
  readonly desired: number;
}

type Allocations = ReadonlyMap<string, Allocation>;

/** The number of endpoints that each zone should have, or a message why there is no allocation. */
function allocate(shares: ZoneShares | undefined, count: number): Allocations | string {
  if (shares === undefined) {
    return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes';
  }
  const numbers = `(${count} endpoints, ${shares.size} zones)`;
  if (shares.size > count) return `Insufficient number of endpoints ${numbers}`;
  const minima = [...shares].map(([zone, share]) => {
    const desired = share * count;
    const minimum = Math.ceil(desired * (1 / (1 + overloadThreshold)));
    return { zone, minimum, desired: Math.max(desired, minimum) };
  });
  const spare = count - minima.reduce((sum, { minimum }) => sum + minimum, 0);
  if (spare < 0) {
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${numbers}`;
  }
  return new Map(
    minima.map(({ zone, minimum, desired }) => [zone, { minimum, maximum: minimum + spare, desired }] as const),
  );
}

function countReady({ create, update, unchanged }: HintInput): number {
  const slices: readonly { readonly endpoints?: readonly Cached<Endpoint>[] | null | undefined }[] = [
    ...create,
    ...update,
    ...unchanged,
  ];
  return slices.reduce((sum, { endpoints }) => sum + (endpoints ?? []).filter(isReadyEndpoint).length, 0);
}

/** The hints of a stored slice; undefined if hints are missing or a zone has too many, so that it must be written. */
function hintsByZone(
  { endpoints }: Cached<EndpointSlice>,
  given: ReadonlyMap<string, number>,
  allocations: Allocations,
): ReadonlyMap<string, number> | undefined {
  const byZone = new Map<string, number>();
  for (const endpoint of endpoints ?? []) {
    if (!isReadyEndpoint(endpoint)) continue;
    const zones = endpoint.hints?.forZones ?? [];
    if (zones.length === 0) return undefined;
    for (const { name } of zones) addTo(byZone, name, 1);
  }
  for (const [zone, count] of byZone) {
    const allocation = allocations.get(zone);
    if (allocation === undefined || count + (given.get(zone) ?? 0) > allocation.maximum) return undefined;
  }
  return byZone;
}

/** Sets hints on all ready endpoints. Updates `byZone` for endpoints that are assigned to another zone. */
function assignZones(
  drafts: readonly SliceDraft[],
  allocations: Allocations,
  byZone: Map<string, number>,
): SliceDraft[] {
  const { giving, receiving } = planMoves(allocations, byZone);
  const zoneOf = (endpoint: Cached<Endpoint>): string => {
    const own = endpoint.zone ?? '';
    if ((giving.get(own) ?? 0) <= 0) return own;
    const receiver = receiving.keys().next().value;
    if (receiver === undefined) return own;
    addTo(giving, own, -1);
    addTo(byZone, own, -1);
    addTo(byZone, receiver, 1);
    if (receiving.get(receiver) === 1) receiving.delete(receiver);
    else addTo(receiving, receiver, -1);
    return receiver;
  };
  return drafts.map((draft) => ({
    ...draft,
    endpoints: draft.endpoints.map((endpoint) =>
      isReadyEndpoint(endpoint) ? withHints(endpoint, { forZones: [{ name: zoneOf(endpoint) }] }) : endpoint,
    ),
  }));
}

/** The number of endpoints that zones with too many give to zones with too few. */
function planMoves(
  allocations: Allocations,
  byZone: ReadonlyMap<string, number>,
): { readonly giving: Map<string, number>; readonly receiving: Map<string, number> } {
  const surplus = new Map<string, number>();
  const shortage = new Map<string, number>();
  for (const [zone, { desired }] of allocations) {
    const excess = (byZone.get(zone) ?? 0) - desired;
    if (excess > 0) surplus.set(zone, excess);
    else if (excess < 0) shortage.set(zone, -excess);
  }
  const giving = new Map<string, number>();
  const receiving = new Map<string, number>();
  for (;;) {
    const [giver, toGive] = mostOf(surplus);
    const [receiver, toReceive] = mostOf(shortage);
    if ((toGive < 1 && toReceive < 1) || toGive < 0.5 || toReceive < 0.5) return { giving, receiving };
    addTo(giving, giver, 1);
    addTo(surplus, giver, -1);
    addTo(receiving, receiver, 1);
    addTo(shortage, receiver, -1);
  }
}

function mostOf(zones: ReadonlyMap<string, number>): readonly [zone: string, count: number] {
  let most: readonly [string, number] = ['', 0];
  for (const entry of zones) if (entry[1] > most[1]) most = entry;
  return most;
}

function addTo(counts: Map<string, number>, zone: string, count: number): void {
  counts.set(zone, (counts.get(zone) ?? 0) + count);
}
