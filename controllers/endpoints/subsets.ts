import type { Cached, EndpointAddress, EndpointSubset, Pod, Service } from '../../pkg/api/index.ts';
import { isPodReady } from '../../pkg/pods/index.ts';
import { findPort, hostnameOf, isEndpoint, portMapKey, repackSubsets } from '../../pkg/endpoints/index.ts';
import { parseIp, type IpFamily } from '../../pkg/ip/index.ts';

type SubsetPort = NonNullable<EndpointSubset['ports']>[number];

/** The subsets of a Service in canonical form, before truncation. */
export function computeSubsets(service: Cached<Service>, pods: readonly Cached<Pod>[]): Cached<EndpointSubset>[] {
  const { publishNotReadyAddresses = false, ports = [], clusterIP } = service.spec;
  const isWithoutPorts = ports.length === 0 && clusterIP === 'None';
  const byPorts = new Map<
    string,
    { readonly ports: SubsetPort[]; addresses: EndpointAddress[]; notReady: EndpointAddress[] }
  >();
  for (const pod of pods) {
    if (!isEndpoint(pod, { includeTerminating: publishNotReadyAddresses })) continue;
    const address = addressOf(pod, service);
    if (address === undefined) continue;
    const offered = portsOf(pod, service);
    if (offered.length === 0 && !isWithoutPorts) continue;
    const key = portMapKey(offered); // the whole port: two named ports, or TCP and UDP, may have the same number
    let subset = byPorts.get(key);
    if (subset === undefined) byPorts.set(key, (subset = { ports: offered, addresses: [], notReady: [] }));
    (publishNotReadyAddresses || isPodReady(pod) ? subset.addresses : subset.notReady).push(address);
  }
  return repackSubsets(
    [...byPorts.values()].map(({ addresses, notReady, ...subset }) => ({
      ...subset,
      addresses,
      notReadyAddresses: notReady,
    })),
  );
}

function portsOf(pod: Cached<Pod>, { spec }: Cached<Service>): SubsetPort[] {
  return (spec.ports ?? []).flatMap((servicePort) => {
    const port = findPort(pod, servicePort);
    const { name, protocol = 'TCP', appProtocol } = servicePort;
    if (port === undefined) return [];
    return [{ port, protocol, ...(name && { name }), ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function addressOf(pod: Cached<Pod>, service: Cached<Service>): EndpointAddress | undefined {
  const family = familyOf(service, pod);
  const ip = (pod.status?.podIPs ?? []).map((entry) => parseIp(entry.ip)).find((address) => address?.family === family);
  if (ip === undefined) return undefined;
  const { namespace, name, uid } = pod.metadata;
  const hostname = hostnameOf(pod, service);
  return {
    ip: ip.text,
    ...(hostname !== undefined && { hostname }),
    nodeName: pod.spec.nodeName ?? '',
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}

/** Endpoints have one address family only: the first of the Service. */
function familyOf({ spec }: Cached<Service>, pod: Cached<Pod>): IpFamily {
  const { ipFamilies = [], clusterIP = '' } = spec;
  const [first] = ipFamilies;
  if (first !== undefined) return first === 'IPv6' ? 'IPv6' : 'IPv4';
  const known = clusterIP === '' || clusterIP === 'None' ? (pod.status?.podIP ?? '') : clusterIP;
  return parseIp(known)?.family ?? 'IPv4';
}
