import type { Cached, Endpoint, EndpointSlice, Service } from '../../pkg/api/index.ts';
import { isReadyEndpoint } from '../../pkg/endpoints/index.ts';
import type { SliceDraft } from './packing.ts';

type Hints = Cached<Endpoint>['hints'];

/** The slices of one address family before hints are set. */
export interface HintInput {
  readonly create: readonly SliceDraft[];
  readonly update: readonly SliceDraft[];
  readonly unchanged: readonly Cached<EndpointSlice>[];
}

export interface Hinted {
  readonly create: readonly SliceDraft[];
  readonly update: readonly SliceDraft[];
}

/** Whether the Service enables topology aware hints. */
export function wantsTopologyHints({ metadata: { annotations = {} } }: Cached<Service>): boolean {
  const mode =
    annotations['service.kubernetes.io/topology-aware-hints'] ?? annotations['service.kubernetes.io/topology-mode'];
  return mode === 'Auto' || mode === 'auto';
}

/** The Service's traffic distribution; undefined if it is not set, unknown or not enabled. */
export function trafficDistributionOf(
  service: Cached<Service>,
  { preferSameEnabled }: { readonly preferSameEnabled: boolean },
): string | undefined {
  const { trafficDistribution } = service.spec;
  if (trafficDistribution === undefined || wantsTopologyHints(service)) return undefined;
  if (trafficDistribution === 'PreferClose') return trafficDistribution;
  const isPreferSame = trafficDistribution === 'PreferSameZone' || trafficDistribution === 'PreferSameNode';
  return isPreferSame && preferSameEnabled ? trafficDistribution : undefined;
}

/** Sets the hints of each ready endpoint to its own zone and, for `PreferSameNode`, its own node. */
export function hintByDistribution(input: HintInput, trafficDistribution: string): Hinted {
  const toNode = trafficDistribution === 'PreferSameNode';
  return rewriteHints(input, (endpoint) => {
    if (!isReadyEndpoint(endpoint)) return endpoint.hints;
    const { zone, nodeName } = endpoint;
    if (zone === undefined && (nodeName === undefined || !toNode)) return undefined;
    return {
      ...(zone !== undefined && { forZones: [{ name: zone }] }),
      ...(nodeName !== undefined && toNode && { forNodes: [{ name: nodeName }] }),
    };
  });
}

export function removeHints(input: HintInput): Hinted {
  return rewriteHints(input, () => undefined);
}

/** Sets the hints of every endpoint. Unchanged slices with other hints are added to the updates. */
function rewriteHints(
  { create, update, unchanged }: HintInput,
  hintsOf: (endpoint: Cached<Endpoint>) => Hints,
): Hinted {
  const rewrite = (draft: SliceDraft): SliceDraft => {
    const endpoints = draft.endpoints.map((endpoint) => withHints(endpoint, hintsOf(endpoint)));
    return { ...draft, endpoints };
  };
  const outdated = unchanged.filter(({ endpoints }) =>
    (endpoints ?? []).some((endpoint) => !hasHints(endpoint, hintsOf(endpoint))),
  );
  return { create: create.map(rewrite), update: [...update, ...outdated.map(draftOf)].map(rewrite) };
}

/** A draft that updates a stored slice. */
export function draftOf(slice: Cached<EndpointSlice>): SliceDraft {
  return { base: slice, ports: slice.ports ?? [], endpoints: slice.endpoints ?? [] };
}

export function withHints(endpoint: Cached<Endpoint>, hints: Hints): Cached<Endpoint> {
  if (hasHints(endpoint, hints)) return endpoint;
  const { hints: _before, ...rest } = endpoint;
  return hints === undefined ? rest : { ...rest, hints };
}

function hasHints({ hints }: Cached<Endpoint>, wanted: Hints): boolean {
  if (hints === wanted) return true; // usually both are undefined
  return names(hints?.forZones) === names(wanted?.forZones) && names(hints?.forNodes) === names(wanted?.forNodes);
}

function names(targets: readonly { readonly name: string }[] | undefined): string {
  return (targets ?? []).map(({ name }) => name).join();
}
