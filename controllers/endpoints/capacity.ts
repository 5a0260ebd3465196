import type { Cached, EndpointSubset } from '../../pkg/api/index.ts';

/** The maximum number of addresses in one object: every change of the object is sent to every node. */
export const maxAddresses = 1000;

/**
 * Truncates subsets to `maxAddresses`, each in proportion. Addresses that are not ready are dropped first. Undefined if
 * the subsets are within the limit.
 */
export function truncateSubsets(subsets: readonly Cached<EndpointSubset>[]): Cached<EndpointSubset>[] | undefined {
  const ready = sum(subsets, ({ addresses = [] }) => addresses.length);
  const notReady = sum(subsets, ({ notReadyAddresses = [] }) => notReadyAddresses.length);
  if (ready + notReady <= maxAddresses) return undefined;
  const cutReady = ready > maxAddresses;
  const budget = cutReady ? maxAddresses : maxAddresses - ready;
  const total = cutReady ? ready : notReady;
  let left = budget;
  const truncated = subsets.map(({ addresses = [], notReadyAddresses = [], ...subset }) => {
    const present = cutReady ? addresses : notReadyAddresses;
    // Rounded up, so that rounding reduces only the last subset.
    const kept = present.slice(0, Math.min(left, Math.ceil((present.length / total) * budget)));
    left -= kept.length;
    const [keptReady, keptNotReady] = cutReady ? [kept, []] : [addresses, kept];
    return {
      addresses: keptReady.length > 0 ? keptReady : undefined,
      notReadyAddresses: keptNotReady.length > 0 ? keptNotReady : undefined,
      ...subset,
    };
  });
  // The last subsets may be empty. The API server rejects a subset without addresses.
  return truncated.filter(
    ({ addresses, notReadyAddresses }) => addresses !== undefined || notReadyAddresses !== undefined,
  );
}

function sum<T>(items: readonly T[], countOf: (item: T) => number): number {
  return items.reduce((total, item) => total + countOf(item), 0);
}
