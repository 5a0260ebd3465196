import { isBeingDeleted, type Cached, type Endpoint, type Node, type Pod, type Service } from '../../pkg/api/index.ts';
import { isPodReady } from '../../pkg/pods/index.ts';
import { hostnameOf } from '../../pkg/endpoints/index.ts';
import { parseIp, type IpFamily } from '../../pkg/ip/index.ts';

const zoneLabel = 'topology.kubernetes.io/zone';

/** The endpoint of a pod for a Service in one address family; undefined if the pod has no address of that family. */
export function endpointOf(
  pod: Cached<Pod>,
  node: Cached<Node> | undefined,
  service: Cached<Service>,
  family: IpFamily,
): Endpoint | undefined {
  const addresses = addressesOf(pod, family);
  if (addresses.length === 0) return undefined;
  const { namespace, name, uid } = pod.metadata;
  const serving = isPodReady(pod);
  const terminating = isBeingDeleted(pod.metadata);
  // Consumers that read only `ready` must not send traffic to terminating pods, unless the Service asks for that.
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const endpoint: Endpoint = {
    addresses,
    conditions: { ready, serving, terminating },
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
  const { nodeName = '' } = pod.spec;
  if (nodeName !== '') endpoint.nodeName = nodeName;
  const zone = node?.metadata.labels?.[zoneLabel] ?? '';
  if (zone !== '') endpoint.zone = zone;
  const hostname = hostnameOf(pod, service);
  if (hostname !== undefined) endpoint.hostname = hostname;
  return endpoint;
}

function addressesOf({ status }: Cached<Pod>, family: IpFamily): string[] {
  const addresses: string[] = [];
  for (const { ip } of status?.podIPs ?? []) {
    const address = parseIp(ip);
    if (address?.family === family) addresses.push(address.text);
  }
  return addresses.length > 1 ? addresses.sort() : addresses;
}

/** The address families of the Service's slices. */
export function familiesOf({ spec }: Cached<Service>): readonly IpFamily[] {
  const { ipFamilies = [], clusterIP = '' } = spec;
  const families = (['IPv4', 'IPv6'] as const).filter((family) => ipFamilies.includes(family));
  if (families.length > 0) return families;
  // Services from before dual-stack have no `ipFamilies`. The family of the cluster IP counts. A headless Service gets
  // both families: its pods may use either.
  if (clusterIP === '' || clusterIP === 'None') return ['IPv4', 'IPv6'];
  return [parseIp(clusterIP)?.family ?? 'IPv4'];
}
