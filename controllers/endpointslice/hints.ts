import type { Cached, Endpoint, EndpointSlice, Service } from '../../pkg/api/index.ts';
import { isReadyEndpoint } from '../../pkg/endpoints/index.ts';
import type { SliceDraft } from './packing.ts';

type Hints = Cached<Endpoint>['hints'];

/** The slices of one address family before hints are given. */
export interface HintInput {
  readonly create: readonly SliceDraft[];
  readonly update: readonly SliceDraft[];
  readonly unchanged: readonly Cached<EndpointSlice>[];
}

export interface Hinted {
  readonly create: readonly SliceDraft[];
  readonly update: readonly SliceDraft[];
}

/** Whether the Service asks for hints by the share that each zone has of the cluster's processors. */
export function wantsTopologyHints({ metadata: { annotations = {} } }: Cached<Service>): boolean {
  const mode =
    annotations['service.kubernetes.io/topology-aware-hints'] ?? annotations['service.kubernetes.io/topology-mode'];
  return mode === 'Auto' || mode === 'auto';
}

/** The traffic distribution that a Service has chosen; undefined if none, or one that is not known or not enabled. */
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

/** Hints each ready endpoint at its own zone and, for `PreferSameNode`, its own node. */
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

/** Gives every endpoint the hints it should have, and adds those slices to the updates that have others now. */
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

/** A stored slice, about to be changed. */
export function draftOf(slice: Cached<EndpointSlice>): SliceDraft {
  return { base: slice, ports: slice.ports ?? [], endpoints: slice.endpoints ?? [] };
}

export function withHints(endpoint: Cached<Endpoint>, hints: Hints): Cached<Endpoint> {
  if (hasHints(endpoint, hints)) return endpoint;
  const { hints: _before, ...rest } = endpoint;
  return hints === undefined ? rest : { ...rest, hints };
}

function hasHints({ hints }: Cached<Endpoint>, wanted: Hints): boolean {
  if (hints === wanted) return true; // neither has any, as nearly always
  return names(hints?.forZones) === names(wanted?.forZones) && names(hints?.forNodes) === names(wanted?.forNodes);
}

function names(targets: readonly { readonly name: string }[] | undefined): string {
  return (targets ?? []).map(({ name }) => name).join();
}
