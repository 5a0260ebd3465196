import { isEqualJson, ownValue, type Cached, type Node } from '../../pkg/api/index.ts';
import type { NodeAddress } from '../../pkg/cloud/index.ts';
import { parseIp } from '../../pkg/ip/index.ts';

/** The kubelet's --node-ip: one address, or one of each family. */
const nodeIpAnnotation = 'alpha.kubernetes.io/provided-node-ip';

/** The addresses of a node cannot be those that its kubelet asks for. */
export class NodeAddressError extends Error {
  override readonly name = 'NodeAddressError';
  readonly reason = 'BadNodeAddress';
}

/**
 * The addresses to write; undefined if the node has them, or the cloud names none. A host name that only the node knows is
 * kept. Throws a `NodeAddressError` if the cloud does not know the address that the kubelet asks for.
 */
export function planAddresses(
  node: Cached<Node>,
  fromCloud: readonly Cached<NodeAddress>[] = [],
): readonly Cached<NodeAddress>[] | undefined {
  if (fromCloud.length === 0) return undefined;
  const present = node.status?.addresses ?? [];
  const isHostname = ({ type }: Cached<NodeAddress>): boolean => type === 'Hostname';
  const all = fromCloud.some(isHostname) ? fromCloud : [...fromCloud, ...present.filter(isHostname)];
  const wanted = preferNodeIp(node, all);
  return areSameAddresses(present, wanted) ? undefined : wanted;
}

/** The address that the kubelet asks for comes first, and is the only one of its type. */
export function preferNodeIp(
  { metadata }: Cached<Node>,
  addresses: readonly Cached<NodeAddress>[],
): readonly Cached<NodeAddress>[] {
  const annotation = ownValue(metadata.annotations, nodeIpAnnotation);
  if (annotation === undefined) return addresses;
  const preferred = parseNodeIps(annotation).flatMap((ip) => {
    const matching = addresses.filter(({ address }) => parseIp(address)?.text === ip);
    if (matching.length > 0) return matching;
    throw new NodeAddressError(`failed to get node address from cloud provider that matches ip: ${ip}`);
  });
  const types = new Set(preferred.map(({ type }) => type));
  return [...preferred, ...addresses.filter(({ type }) => !types.has(type))];
}

function parseNodeIps(annotation: string): readonly string[] {
  const refuse = (why: string): never => {
    throw new NodeAddressError(`failed to parse node IP ${JSON.stringify(annotation)}: ${why}`);
  };
  const ips = annotation.split(',').map((text) => parseIp(text) ?? refuse(`could not parse ${JSON.stringify(text)}`));
  const [first, second] = ips;
  if (ips.length > 2 || (second !== undefined && first?.family === second.family)) {
    refuse('must contain either a single IP or a dual-stack pair of IPs');
  }
  if (second !== undefined && ips.some(({ text }) => text === '0.0.0.0' || text === '::')) {
    refuse("dual-stack node IP cannot include '0.0.0.0' or '::'");
  }
  return ips.map(({ text }) => text);
}

/** The order does not count. */
function areSameAddresses(a: readonly Cached<NodeAddress>[], b: readonly Cached<NodeAddress>[]): boolean {
  return a.length === b.length && b.every((address) => a.some((each) => isEqualJson(each, address)));
}
