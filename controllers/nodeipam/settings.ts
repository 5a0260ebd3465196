import { FlagError } from '../../pkg/flags/index.ts';
import { parseCidr, widthOf, type Cidr } from '../../pkg/ip/index.ts';

/** The flags for the ranges of nodes. */
export interface RangeFlags {
  readonly 'allocate-node-cidrs': boolean;
  readonly 'cluster-cidr': string;
  readonly 'service-cluster-ip-range': string;
  readonly 'node-cidr-mask-size': number;
  readonly 'node-cidr-mask-size-ipv4': number;
  readonly 'node-cidr-mask-size-ipv6': number;
}

export interface ClusterRange {
  readonly cidr: Cidr;
  /** The prefix length of the ranges of nodes. */
  readonly nodePrefix: number;
}

export interface RangeSettings {
  /** One, or one of each family. */
  readonly cluster: readonly ClusterRange[];
  /** No node gets a range that overlaps with these. */
  readonly services: readonly Cidr[];
}

const defaultPrefix = { IPv4: 24, IPv6: 64 } as const;
/** The limit of the Go binary, for IPv6: 65,536 nodes. */
const maxIPv6Difference = 16;

/** Throws a `FlagError` that names the flag. Undefined if node CIDRs are not to be allocated. */
export function readRangeSettings(flags: RangeFlags): RangeSettings | undefined {
  if (!flags['allocate-node-cidrs']) return undefined;
  const cluster = readCidrs('cluster-cidr', flags['cluster-cidr']);
  if (cluster.length === 0) refuse('cluster-cidr', 'must be set if --allocate-node-cidrs is set');
  const services = readCidrs('service-cluster-ip-range', flags['service-cluster-ip-range']);
  return { cluster: cluster.map((cidr) => clusterRange(cidr, cluster, flags)), services };
}

function readCidrs(flag: string, text: string): readonly Cidr[] {
  if (text.trim() === '') return [];
  const parts = text.trim().split(',');
  if (parts.length > 2) refuse(flag, `has ${parts.length} CIDRs, and at most two are allowed`);
  const cidrs = parts.map((part) => parseCidr(part) ?? refuse(flag, `${JSON.stringify(part)} is not a CIDR`));
  const [first, second] = cidrs;
  if (first !== undefined && first.family === second?.family) {
    refuse(flag, `two CIDRs must be of different families, and both are ${first.family}`);
  }
  return cidrs;
}

function clusterRange(cidr: Cidr, all: readonly Cidr[], flags: RangeFlags): ClusterRange {
  checkMaskFlags(all, flags);
  const ofFamily = cidr.family === 'IPv4' ? 'node-cidr-mask-size-ipv4' : 'node-cidr-mask-size-ipv6';
  const flag = flags['node-cidr-mask-size'] === 0 ? ofFamily : 'node-cidr-mask-size';
  const nodePrefix = flags[flag] === 0 ? defaultPrefix[cidr.family] : flags[flag];
  if (nodePrefix < cidr.prefix) refuse('cluster-cidr', `${cidr.text} is smaller than a node's /${nodePrefix}`);
  if (nodePrefix > widthOf(cidr.family)) refuse(flag, `/${nodePrefix} is longer than an address`);
  if (cidr.family === 'IPv6' && nodePrefix - cidr.prefix > maxIPv6Difference) {
    refuse('cluster-cidr', `${cidr.text} is more than ${maxIPv6Difference} bits larger than a node's /${nodePrefix}`);
  }
  return { cidr, nodePrefix };
}

function checkMaskFlags(cluster: readonly Cidr[], flags: RangeFlags): void {
  const isSet = (flag: keyof RangeFlags): boolean => flags[flag] !== 0;
  const isDualStack = cluster.length > 1;
  if (isSet('node-cidr-mask-size') && isDualStack) {
    refuse('node-cidr-mask-size', 'is not allowed with two cluster CIDRs: set it for each family');
  }
  for (const family of ['IPv4', 'IPv6'] as const) {
    const flag = family === 'IPv4' ? 'node-cidr-mask-size-ipv4' : 'node-cidr-mask-size-ipv6';
    if (!isSet(flag)) continue;
    if (isSet('node-cidr-mask-size')) refuse(flag, 'is not allowed together with --node-cidr-mask-size');
    if (!cluster.some((cidr) => cidr.family === family)) {
      refuse(flag, `is not allowed without an ${family} range in --cluster-cidr`);
    }
  }
}

function refuse(flag: string, problem: string): never {
  throw new FlagError('InvalidValue', flag, `--${flag}: ${problem}`);
}
