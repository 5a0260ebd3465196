import type { Cached, EndpointAddress, EndpointSubset } from '../api/index.ts';
import { sortSubsetPorts, sortSubsets } from './go-order.ts';

type Port = NonNullable<Cached<EndpointSubset>['ports']>[number];
type Address = Cached<EndpointAddress>;

/** The addresses of one port, by identity, with their readiness. */
type Offers = Map<string, { readonly address: Address; ready: boolean }>;

/**
 * The canonical form of subsets. Ports with the same addresses share a subset. An address that is listed as ready and as
 * not ready under the same port is not ready. Everything is sorted. Equal contents give equal subsets.
 */
export function repackSubsets(subsets: readonly Cached<EndpointSubset>[]): Cached<EndpointSubset>[] {
  const byPort = new Map<string, { readonly port: Port | undefined; readonly offers: Offers }>();
  const known = new Map<string, Address>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const key = port === undefined ? '' : portKey(port);
      let entry = byPort.get(key);
      if (entry === undefined) byPort.set(key, (entry = { port, offers: new Map() }));
      for (const address of addresses) offer(entry.offers, address, true, known);
      for (const address of notReadyAddresses) offer(entry.offers, address, false, known);
    }
  }
  return sortSubsets(joinPorts([...byPort.values()]));
}

function portKey({ name = '', port, protocol = '', appProtocol }: Port): string {
  return `${name} ${port} ${protocol} ${appProtocol ?? ''}`;
}

/** Pods on the host network share an address, so the pod is part of the identity. */
function offer(offers: Offers, address: Address, ready: boolean, known: Map<string, Address>): void {
  const id = `${address.ip} ${address.targetRef?.uid ?? ''}`;
  const first = known.get(id);
  if (first === undefined) known.set(id, address);
  const present = offers.get(id);
  if (present === undefined) offers.set(id, { address: first ?? address, ready });
  else if (!ready) present.ready = false;
}

function joinPorts(
  entries: readonly { readonly port: Port | undefined; readonly offers: Offers }[],
): Cached<EndpointSubset>[] {
  const byOffers = new Map<string, { readonly ports: Port[]; readonly offers: Offers }>();
  for (const { port, offers } of entries) {
    // With a single port there is nothing to join: skip the key of possibly thousands of addresses.
    const key =
      entries.length === 1
        ? ''
        : [...offers]
            .map(([id, { ready }]) => `${id} ${ready}`)
            .sort()
            .join();
    let group = byOffers.get(key);
    if (group === undefined) byOffers.set(key, (group = { ports: [], offers }));
    if (port !== undefined) group.ports.push(port);
  }
  return [...byOffers.values()].map(({ ports, offers }) => {
    const all = [...offers.values()];
    const addresses = addressesOf(all.filter(({ ready }) => ready));
    const notReadyAddresses = addressesOf(all.filter(({ ready }) => !ready));
    return {
      ...(addresses.length > 0 && { addresses }),
      ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
      ...(ports.length > 0 && { ports: sortSubsetPorts(ports) }),
    };
  });
}

function addressesOf(offers: readonly { readonly address: Address }[]): Address[] {
  return offers.map(({ address }) => address).sort(byIpAndUid);
}

function byIpAndUid(a: Address, b: Address): number {
  if (a.ip !== b.ip) return a.ip < b.ip ? -1 : 1;
  if (a.targetRef === undefined || b.targetRef === undefined) {
    return Number(a.targetRef !== undefined) - Number(b.targetRef !== undefined);
  }
  const [uidA = '', uidB = ''] = [a.targetRef.uid, b.targetRef.uid];
  return uidA === uidB ? 0 : uidA < uidB ? -1 : 1;
}
