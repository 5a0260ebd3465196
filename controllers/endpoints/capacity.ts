import type { Cached, EndpointSubset } from '../../pkg/api/index.ts';

/** More addresses than this are not stored: one such object would weigh on every node at each change. */
export const maxAddresses = 1000;

/**
 * Cuts subsets down to `maxAddresses`, each in proportion, the not ready ones first. Undefined if they are within it.
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
    // Rounded up, so that what is lost by rounding is lost to the last subset alone.
    const kept = present.slice(0, Math.min(left, Math.ceil((present.length / total) * budget)));
    left -= kept.length;
    const [keptReady, keptNotReady] = cutReady ? [kept, []] : [addresses, kept];
    return {
      addresses: keptReady.length > 0 ? keptReady : undefined,
      notReadyAddresses: keptNotReady.length > 0 ? keptNotReady : undefined,
      ...subset,
    };
  });
  // The last ones may have got nothing, and the API server takes no subset without addresses.
  return truncated.filter(
    ({ addresses, notReadyAddresses }) => addresses !== undefined || notReadyAddresses !== undefined,
  );
}

function sum<T>(items: readonly T[], countOf: (item: T) => number): number {
  return items.reduce((total, item) => total + countOf(item), 0);
}
