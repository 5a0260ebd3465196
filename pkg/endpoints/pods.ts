import { isEqualJson, isBeingDeleted, type Cached, type Pod, type Service } from '../api/index.ts';
import { isPodFinished, isPodReady } from '../pods/index.ts';

/** Whether a pod is an endpoint of its Services: it has an address and is not finished. */
export function isEndpoint(pod: Cached<Pod>, options: { readonly includeTerminating: boolean }): boolean {
  if (isPodFinished(pod)) return false;
  const { podIP = '', podIPs = [] } = pod.status ?? {};
  if (podIP === '' && podIPs.length === 0) return false;
  return options.includeTerminating || !isBeingDeleted(pod.metadata);
}

/** The pod's DNS hostname in the subdomain of its Service; undefined if it has none. */
export function hostnameOf({ spec, metadata }: Cached<Pod>, service: Cached<Service>): string | undefined {
  const { hostname = '', subdomain = '' } = spec;
  const { name, namespace } = service.metadata;
  return hostname !== '' && subdomain === name && metadata.namespace === namespace ? hostname : undefined;
}

/** Whether a change of a pod can change its endpoints. Labels do not count: they decide which Services select it. */
export function isEndpointChange(before: Cached<Pod>, after: Cached<Pod>): boolean {
  return (
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    isPodReady(before) !== isPodReady(after) ||
    isPodFinished(before) !== isPodFinished(after) ||
    !isEqualJson(before.status?.podIPs ?? [], after.status?.podIPs ?? [])
  );
}

/** Whether the Service has no cluster IP. */
export function isHeadless({ spec: { clusterIP = '' } }: Cached<Service>): boolean {
  return clusterIP === '' || clusterIP === 'None';
}
