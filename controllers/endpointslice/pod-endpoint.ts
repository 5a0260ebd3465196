import { isBeingDeleted, type Cached, type Endpoint, type Node, type Pod, type Service } from '../../pkg/api/index.ts';
import { isPodReady } from '../../pkg/pods/index.ts';
import { hostnameOf, parseIp, type IpFamily } from '../../pkg/endpoints/index.ts';

const zoneLabel = 'topology.kubernetes.io/zone';

/** The endpoint that a pod is to a Service in one address family; undefined if it has no address there. */
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
  // Consumers that know nothing of terminating pods must not send them traffic, unless the Service wants just that.
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

/** The address families that a Service has slices of. */
export function familiesOf({ spec }: Cached<Service>): readonly IpFamily[] {
  const { ipFamilies = [], clusterIP = '' } = spec;
  const families = (['IPv4', 'IPv6'] as const).filter((family) => ipFamilies.includes(family));
  if (families.length > 0) return families;
  // Objects from before dual stack do not say. With an address of its own a Service has that one's family; without
  // one, dropping either could drop what works.
  if (clusterIP === '' || clusterIP === 'None') return ['IPv4', 'IPv6'];
  return [parseIp(clusterIP)?.family ?? 'IPv4'];
}
