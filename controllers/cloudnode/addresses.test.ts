import { describe, expect, test } from 'vitest';

import type { Cached, Node } from '../../pkg/api/index.ts';
import type { NodeAddress } from '../../pkg/cloud/index.ts';
import { frozen, node } from '../../test/support/builders.ts';
import { planAddresses, preferNodeIp } from './addresses.ts';

const address = (type: string, value: string): NodeAddress => ({ type, address: value });
const [internal, external, hostname] = [
  address('InternalIP', '10.0.0.1'),
  address('ExternalIP', '192.0.2.1'),
  address('Hostname', 'a'),
];

function machine(addresses: NodeAddress[], nodeIp?: string): Cached<Node> {
  const annotations: Record<string, string> =
    nodeIp === undefined ? {} : { 'alpha.kubernetes.io/provided-node-ip': nodeIp };
  return frozen(node({ metadata: { annotations }, status: { addresses } }));
}

describe('planAddresses', () => {
  const rows = [
    {
      name: 'leaves a node alone of which the cloud knows no address',
      present: [internal],
      cloud: [],
      expected: undefined,
    },
    { name: 'writes new addresses', present: [], cloud: [internal, external], expected: [internal, external] },
    { name: 'keeps the host name of the node', present: [hostname], cloud: [internal], expected: [internal, hostname] },
    {
      name: 'takes the host name of the cloud',
      present: [hostname],
      cloud: [address('Hostname', 'b')],
      expected: [address('Hostname', 'b')],
    },
    {
      name: 'does not write what is there, in any order',
      present: [hostname, internal],
      cloud: [internal],
      expected: undefined,
    },
    {
      name: 'does not write two addresses of one type again',
      present: [internal, address('InternalIP', 'fd00::1')],
      cloud: [address('InternalIP', 'fd00::1'), internal],
      expected: undefined,
    },
    { name: 'removes addresses', present: [internal, external], cloud: [internal], expected: [internal] },
  ];
  for (const { name, present, cloud, expected } of rows) {
    test(name, () => expect(planAddresses(machine(present), cloud)).toEqual(expected));
  }
});

describe('preferNodeIp', () => {
  const second = address('InternalIP', '10.0.0.2');
  const v6 = address('InternalIP', 'fd00::1');
  const accepted = [
    {
      name: 'keeps the order without the annotation',
      nodeIp: undefined,
      cloud: [external, internal],
      expected: [external, internal],
    },
    {
      name: 'puts the address first, alone of its type',
      nodeIp: '10.0.0.2',
      cloud: [external, internal, second],
      expected: [second, external],
    },
    {
      name: 'takes one of each family',
      nodeIp: '10.0.0.2,fd00::1',
      cloud: [internal, second, v6, external],
      expected: [second, v6, external],
    },
    { name: 'compares addresses, not their text', nodeIp: 'fd00:0::1', cloud: [v6], expected: [v6] },
  ];
  for (const { name, nodeIp, cloud, expected } of accepted) {
    test(name, () => expect(preferNodeIp(machine([], nodeIp), cloud)).toEqual(expected));
  }

  const refused = [
    {
      name: 'an address that the cloud does not know',
      nodeIp: '10.0.0.9',
      message: 'failed to get node address from cloud provider that matches ip: 10.0.0.9',
    },
    { name: 'text', nodeIp: 'here', message: 'failed to parse node IP "here": could not parse "here"' },
    { name: 'nothing', nodeIp: '', message: 'could not parse ""' },
    {
      name: 'two of one family',
      nodeIp: '10.0.0.1,10.0.0.2',
      message: 'must contain either a single IP or a dual-stack pair of IPs',
    },
    {
      name: 'three',
      nodeIp: '10.0.0.1,fd00::1,fd00::2',
      message: 'must contain either a single IP or a dual-stack pair of IPs',
    },
    {
      name: 'any address of a family',
      nodeIp: '0.0.0.0,fd00::1',
      message: "dual-stack node IP cannot include '0.0.0.0' or '::'",
    },
  ];
  for (const { name, nodeIp, message } of refused) {
    test(`refuses ${name}`, () => expect(() => preferNodeIp(machine([], nodeIp), [internal, second])).toThrow(message));
  }
});
