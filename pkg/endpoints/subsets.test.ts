import { describe, expect, test } from 'vitest';

import type { EndpointSubset } from '../api/index.ts';
import { repackSubsets } from './subsets.ts';

const [a, b] = [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }];
const [http, https] = [
  { name: 'http', port: 80, protocol: 'TCP' },
  { name: 'https', port: 443, protocol: 'TCP' },
];
const podOn = (ip: string, uid: string) => ({ ip, targetRef: { kind: 'Pod', uid } });

const rows: { name: string; subsets: EndpointSubset[]; packed: EndpointSubset[] }[] = [
  { name: 'nothing stays nothing', subsets: [], packed: [] },
  {
    name: 'ports with the same addresses share a subset',
    subsets: [
      { addresses: [b], ports: [http] },
      { addresses: [a], ports: [http] },
      { addresses: [a, b], ports: [https] },
    ],
    packed: [{ addresses: [a, b], ports: [http, https] }],
  },
  {
    name: 'an address that is not ready anywhere under a port is not ready',
    subsets: [
      { addresses: [a], ports: [http] },
      { notReadyAddresses: [a], ports: [http] },
    ],
    packed: [{ notReadyAddresses: [a], ports: [http] }],
  },
  {
    name: 'readiness that differs between ports keeps them apart',
    subsets: [
      { addresses: [a], ports: [http] },
      { notReadyAddresses: [a], ports: [https] },
    ],
    packed: [
      { notReadyAddresses: [a], ports: [https] },
      { addresses: [a], ports: [http] },
    ],
  },
  {
    name: 'pods that share the address of their host are two',
    subsets: [{ addresses: [podOn('10.0.0.1', 'y'), podOn('10.0.0.1', 'x'), podOn('10.0.0.1', 'x')], ports: [http] }],
    packed: [{ addresses: [podOn('10.0.0.1', 'x'), podOn('10.0.0.1', 'y')], ports: [http] }],
  },
  {
    name: 'addresses without ports are not lost',
    subsets: [{ addresses: [a] }, { notReadyAddresses: [b] }],
    packed: [{ addresses: [a], notReadyAddresses: [b] }],
  },
];

describe('repackSubsets', () => {
  for (const { name, subsets, packed } of rows) {
    test(name, () => {
      const result = repackSubsets(subsets);
      expect(result.toSorted(byText)).toEqual(packed.toSorted(byText).map(withSortedPorts(result)));
      expect(repackSubsets(result)).toEqual(result);
    });
  }
});

const byText = (x: unknown, y: unknown): number => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1);

/** The order of ports is that of a hash, which has a test of its own. */
function withSortedPorts(result: readonly object[]): (subset: EndpointSubset) => unknown {
  return (subset) => {
    const reversed = { ...subset, ports: subset.ports?.toReversed() };
    return result.some((each) => JSON.stringify(each) === JSON.stringify(reversed)) ? reversed : subset;
  };
}
