import type { Cached, EndpointAddress, EndpointPort, EndpointSubset, ObjectReference } from '../api/index.ts';

type SubsetPort = NonNullable<EndpointSubset['ports']>[number];

/**
 * The Go binary sorts ports and subsets by a hash of their content. Another order would rewrite every object of the
 * cluster after a switch from the Go binary, and again after a switch back. The hash is 128-bit FNV-1a over a fixed text
 * form of the Go structs.
 */
export function sortSlicePorts(ports: readonly Cached<EndpointPort>[]): Cached<EndpointPort>[] {
  return sortedByHash(ports, (port) => `(v1.EndpointPort)${slicePortText(port)}`);
}

export function sortSubsetPorts(ports: readonly Cached<SubsetPort>[]): Cached<SubsetPort>[] {
  return sortedByHash(ports, (port) => `(v1.EndpointPort)${subsetPortText(port)}`);
}

export function sortSubsets(subsets: readonly Cached<EndpointSubset>[]): Cached<EndpointSubset>[] {
  return sortedByHash(subsets, subsetText);
}

function sortedByHash<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  if (items.length < 2) return [...items];
  return items
    .map((item) => ({ item, hash: fnv1a128(textOf(item)) }))
    .sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0))
    .map(({ item }) => item);
}

const orNil = (value: string | number | undefined): string => (value === undefined ? '<nil>' : String(value));

function slicePortText({ name, protocol, port, appProtocol }: Cached<EndpointPort>): string {
  return `{Name:(*string)${orNil(name)} Protocol:(*v1.Protocol)${orNil(protocol)} Port:(*int32)${orNil(port)} AppProtocol:(*string)${orNil(appProtocol)}}`;
}

function subsetPortText({ name = '', port, protocol = '', appProtocol }: Cached<SubsetPort>): string {
  return `{Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${orNil(appProtocol)}}`;
}

function subsetText({ addresses, notReadyAddresses, ports }: Cached<EndpointSubset>): string {
  const list = (items: readonly string[] | undefined): string =>
    items === undefined || items.length === 0 ? '<nil>' : `[${items.join(' ')}]`;
  return `(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)${list(addresses?.map(addressText))} NotReadyAddresses:([]v1.EndpointAddress)${list(notReadyAddresses?.map(addressText))} Ports:([]v1.EndpointPort)${list(ports?.map(subsetPortText))}}`;
}

function addressText({ ip, hostname = '', nodeName, targetRef }: Cached<EndpointAddress>): string {
  return `{IP:(string)${ip} Hostname:(string)${hostname} NodeName:(*string)${orNil(nodeName)} TargetRef:(*v1.ObjectReference)${referenceText(targetRef)}}`;
}

function referenceText(reference: Cached<ObjectReference> | undefined): string {
  if (reference === undefined) return '<nil>';
  const { kind = '', namespace = '', name = '', uid = '', apiVersion = '', resourceVersion = '' } = reference;
  return `{Kind:(string)${kind} Namespace:(string)${namespace} Name:(string)${name} UID:(types.UID)${uid} APIVersion:(string)${apiVersion} ResourceVersion:(string)${resourceVersion} FieldPath:(string)${reference.fieldPath ?? ''}}`;
}

/** The hash in hexadecimal digits. Computed in four parts of 32 bits: a `bigint` takes about a microsecond per byte. */
export function fnv1a128(text: string): string {
  let [a, b, c, d] = [0x6c62272e, 0x07bb0142, 0x62b82175, 0x6295c58d];
  for (const byte of Buffer.from(text, 'utf8')) {
    d = (d ^ byte) >>> 0;
    // The FNV prime is 2^88 + 315: multiply by 315 and add the value shifted left by 88 bits.
    const movedToA = ((c << 24) | (d >>> 8)) >>> 0;
    const movedToB = (d << 24) >>> 0;
    const low = d * 315;
    const next = c * 315 + Math.floor(low / 2 ** 32);
    const high = b * 315 + movedToB + Math.floor(next / 2 ** 32);
    a = (a * 315 + movedToA + Math.floor(high / 2 ** 32)) % 2 ** 32;
    b = high % 2 ** 32;
    c = next % 2 ** 32;
    d = low % 2 ** 32;
  }
  return [a, b, c, d].map((part) => part.toString(16).padStart(8, '0')).join('');
}
