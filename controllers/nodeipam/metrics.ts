import type { Cidr } from '../../pkg/ip/index.ts';
import {
  defineCounter,
  defineGauge,
  defineHistogram,
  exponentialBuckets,
  type MetricsRegistry,
} from '../../pkg/metrics/index.ts';
import type { CidrSetObserver } from './cidr-set.ts';

const labels = ['clusterCIDR'] as const;

/** The metrics of the sets of node CIDRs. `cirdset` is misspelt in the Go binary too. */
export function createIpamMetrics(
  registry: MetricsRegistry,
): CidrSetObserver & { setSize(cluster: Cidr, blocks: number): void } {
  const name = (suffix: string): string => `node_ipam_controller_${suffix}`;
  const allocations = defineCounter(registry, {
    name: name('cidrset_cidrs_allocations_total'),
    help: 'Node CIDRs that were allocated, or found in use.',
    labels,
  });
  const releases = defineCounter(registry, {
    name: name('cidrset_cidrs_releases_total'),
    help: 'Node CIDRs that were released.',
    labels,
  });
  const sizes = defineGauge(registry, {
    name: name('cirdset_max_cidrs'),
    help: 'Node CIDRs that the cluster CIDR has.',
    labels,
  });
  const usages = defineGauge(registry, {
    name: name('cidrset_usage_cidrs'),
    help: 'Fraction of the node CIDRs that are in use.',
    labels,
  });
  const tries = defineHistogram(registry, {
    name: name('cidrset_allocation_tries_per_request'),
    help: 'Node CIDRs in use that were passed over to find a free one.',
    labels,
    buckets: exponentialBuckets(1, 5, 5),
  });
  const of = ({ text }: Cidr): { clusterCIDR: string } => ({ clusterCIDR: text });
  return {
    setSize: (cluster, blocks) => sizes.with(of(cluster)).set(blocks),
    allocated(cluster, usage) {
      allocations.with(of(cluster)).inc();
      usages.with(of(cluster)).set(usage);
    },
    released(cluster, usage) {
      releases.with(of(cluster)).inc();
      usages.with(of(cluster)).set(usage);
    },
    found: (cluster, passed) => tries.with(of(cluster)).observe(passed),
  };
}
