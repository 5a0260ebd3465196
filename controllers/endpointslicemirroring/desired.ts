import type { Cached, Endpoint, EndpointAddress, Endpoints } from '../../pkg/api/index.ts';
import { endpointId, portMapOf, repackSubsets, type PortMap } from '../../pkg/endpoints/index.ts';
import { parseIp, type IpFamily } from '../../pkg/ip/index.ts';

/** The desired content of one slice. */
export interface MirrorGroup {
  readonly family: IpFamily;
  readonly portMap: PortMap;
  readonly endpoints: ReadonlyMap<string, Cached<Endpoint>>;
}

export interface Desired {
  readonly groups: ReadonlyMap<string, MirrorGroup>;
  /** The number of invalid IP addresses. */
  readonly invalid: number;
  /** The number of invalid addresses and of addresses beyond the limit. */
  readonly skipped: number;
}

export function groupKey(family: string, portMapKey: string): string {
  return `${family} ${portMapKey}`;
}

/** One group for each combination of ports and address family. Ready addresses come first, up to the limit. */
export function computeDesired({ subsets = [] }: Cached<Endpoints>, maxPerSubset: number): Desired {
  const groups = new Map<string, MirrorGroup & { readonly endpoints: Map<string, Cached<Endpoint>> }>();
  let [invalid, skipped] = [0, 0];
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of repackSubsets(subsets)) {
    const portMap = portMapOf(ports.map(({ name = '', protocol = 'TCP', ...port }) => ({ name, protocol, ...port })));
    const groupOf = (family: IpFamily) => {
      const key = groupKey(family, portMap.key);
      let group = groups.get(key);
      if (group === undefined) groups.set(key, (group = { family, portMap, endpoints: new Map() }));
      return group;
    };
    groupOf('IPv4');
    groupOf('IPv6');
    let mirrored = 0;
    const mirror = (address: Cached<EndpointAddress>, ready: boolean): void => {
      if (mirrored >= maxPerSubset) return;
      const ip = parseIp(address.ip);
      if (ip === undefined) {
        invalid += 1;
        return;
      }
      const endpoint = endpointOf(address, ip.text, ready);
      groupOf(ip.family).endpoints.set(endpointId(endpoint), endpoint);
      mirrored += 1;
    };
    for (const address of addresses) mirror(address, true);
    for (const address of notReadyAddresses) mirror(address, false);
    skipped += addresses.length + notReadyAddresses.length - mirrored;
  }
  return { groups, invalid, skipped };
}

function endpointOf(
  { hostname = '', nodeName, targetRef }: Cached<EndpointAddress>,
  ip: string,
  ready: boolean,
): Cached<Endpoint> {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname !== '' && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    ...(targetRef !== undefined && { targetRef }),
  };
}
