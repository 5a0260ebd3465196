import { isEqualJson, isBeingDeleted, type Cached, type Pod, type Service } from '../api/index.ts';
import { isPodFinished, isPodReady } from '../pods/index.ts';

/** Whether a pod has a place among the endpoints of its Services: it has an address, and its containers run. */
export function isEndpoint(pod: Cached<Pod>, options: { readonly includeTerminating: boolean }): boolean {
  if (isPodFinished(pod)) return false;
  const { podIP = '', podIPs = [] } = pod.status ?? {};
  if (podIP === '' && podIPs.length === 0) return false;
  return options.includeTerminating || !isBeingDeleted(pod.metadata);
}

/** The name under which a pod is found in DNS below its Service; undefined if it asks for none. */
export function hostnameOf({ spec, metadata }: Cached<Pod>, service: Cached<Service>): string | undefined {
  const { hostname = '', subdomain = '' } = spec;
  const { name, namespace } = service.metadata;
  return hostname !== '' && subdomain === name && metadata.namespace === namespace ? hostname : undefined;
}

/** Whether a change of a pod can change its endpoints; its labels aside, which decide whose endpoints they are. */
export function isEndpointChange(before: Cached<Pod>, after: Cached<Pod>): boolean {
  return (
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    isPodReady(before) !== isPodReady(after) ||
    isPodFinished(before) !== isPodFinished(after) ||
    !isEqualJson(before.status?.podIPs ?? [], after.status?.podIPs ?? [])
  );
}

/** Without a cluster IP, and so found through DNS alone. */
export function isHeadless({ spec: { clusterIP = '' } }: Cached<Service>): boolean {
  return clusterIP === '' || clusterIP === 'None';
}
