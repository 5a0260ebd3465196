import type { Cached, IPAddress, ServiceCIDR } from '../../pkg/api/index.ts';
import { addressNumber, areOverlapping, parseCidr, parseIp, type Cidr } from '../../pkg/ip/index.ts';

/** The value of this label on addresses that the API server allocated for Services. */
const managedByLabel = 'ipaddress.kubernetes.io/managed-by';
const allocator = 'ipallocator.k8s.io';

/** Whether the API server allocated this address for a Service. Other addresses do not affect ServiceCIDRs. */
export function isServiceAddress({ metadata }: Cached<IPAddress>): boolean {
  return metadata.labels?.[managedByLabel] === allocator;
}

export function cidrsOf({ spec }: Cached<ServiceCIDR>): readonly Cidr[] {
  return (spec?.cidrs ?? []).map(parseCidr).filter((cidr) => cidr !== undefined);
}

/**
 * Whether the address can be allocated from one of the ranges: any but its network address and, for IPv4, its broadcast
 * address.
 */
export function canAllocate(range: Cached<ServiceCIDR>, address: string): boolean {
  const parsed = parseIp(address);
  if (parsed === undefined) return false;
  const { family, text } = parsed;
  const number = addressNumber(text, family);
  return cidrsOf(range).some((cidr) => {
    if (cidr.family !== family || number <= cidr.first || number > cidr.last) return false;
    return family === 'IPv6' || number < cidr.last;
  });
}

export function isOverlapping(a: Cached<ServiceCIDR>, b: Cached<ServiceCIDR>): boolean {
  return cidrsOf(a).some((left) => cidrsOf(b).some((right) => areOverlapping(left, right)));
}

export interface DeletionSnapshot {
  readonly range: Cached<ServiceCIDR>;
  /** All ServiceCIDRs that overlap with it. They may include itself. */
  readonly overlapping: readonly Cached<ServiceCIDR>[];
  readonly addresses: readonly Cached<IPAddress>[];
}

/** Whether every address would still have a ServiceCIDR after the deletion of this one. */
export function isDeletable({ range, overlapping, addresses }: DeletionSnapshot): boolean {
  const others = overlapping.filter(({ metadata }) => metadata.name !== range.metadata.name);
  const isContained = (cidr: Cidr): boolean =>
    others.flatMap(cidrsOf).some((other) => areOverlapping(other, cidr) && other.prefix <= cidr.prefix);
  if (cidrsOf(range).every(isContained)) return true;
  return !addresses.some((address) => {
    const { name } = address.metadata;
    return isServiceAddress(address) && canAllocate(range, name) && !others.some((other) => canAllocate(other, name));
  });
}
