import { describe, expect, test } from 'vitest';

import { IPAddresses, ServiceCIDRs, type IPAddress, type ServiceCIDR } from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { canAllocate, isDeletable } from './deletion.ts';

const range = (name: string, ...cidrs: string[]): ServiceCIDR => ({
  ...build<ServiceCIDR>(ServiceCIDRs, { name }, {}),
  spec: { cidrs },
});
const managed = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' };
const address = (name: string, labels: Record<string, string> = managed): IPAddress =>
  build<IPAddress>(IPAddresses, { name, labels }, { spec: { parentRef: { name: 'web', resource: 'services' } } });

describe('canAllocate', () => {
  const rows = [
    { name: 'an address in the middle', cidrs: ['10.0.0.0/24'], ip: '10.0.0.7', expected: true },
    { name: 'not the network address', cidrs: ['10.0.0.0/24'], ip: '10.0.0.0', expected: false },
    { name: 'not the broadcast address of IPv4', cidrs: ['10.0.0.0/24'], ip: '10.0.0.255', expected: false },
    { name: 'the last address of IPv6', cidrs: ['fd00::/112'], ip: 'fd00::ffff', expected: true },
    { name: 'not the network address of IPv6', cidrs: ['fd00::/112'], ip: 'fd00::', expected: false },
    { name: 'an address of the second range', cidrs: ['10.0.0.0/24', 'fd00::/112'], ip: 'fd00::5', expected: true },
    { name: 'no address outside', cidrs: ['10.0.0.0/24'], ip: '10.0.1.1', expected: false },
    { name: 'no invalid address', cidrs: ['10.0.0.0/24'], ip: 'service', expected: false },
  ];
  for (const { name, cidrs, ip, expected } of rows) {
    test(name, () => expect(canAllocate(frozen(range('a', ...cidrs)), ip)).toBe(expected));
  }
});

describe('isDeletable', () => {
  const subject = range('subject', '10.1.0.0/24');
  const rows = [
    { name: 'without addresses', others: [], addresses: [], expected: true },
    { name: 'not while an address depends on it', others: [], addresses: [address('10.1.0.5')], expected: false },
    { name: 'despite addresses of other ranges', others: [], addresses: [address('10.9.0.5')], expected: true },
    { name: 'despite addresses of other managers', others: [], addresses: [address('10.1.0.5', {})], expected: true },
    {
      name: 'if a larger range has its addresses',
      others: [range('parent', '10.1.0.0/16')],
      addresses: [address('10.1.0.5')],
      expected: true,
    },
    {
      name: 'if an equal range has its addresses',
      others: [range('twin', '10.1.0.0/24')],
      addresses: [address('10.1.0.5')],
      expected: true,
    },
    {
      name: 'if smaller ranges have all its addresses',
      others: [range('half', '10.1.0.0/25')],
      addresses: [address('10.1.0.5')],
      expected: true,
    },
    {
      name: 'not if a smaller range lacks one of its addresses',
      others: [range('half', '10.1.0.0/25')],
      addresses: [address('10.1.0.5'), address('10.1.0.200')],
      expected: false,
    },
    {
      name: 'not if a larger range covers only one of its families',
      subject: range('subject', '10.1.0.0/24', 'fd00::/112'),
      others: [range('parent', '10.1.0.0/16')],
      addresses: [address('fd00::9')],
      expected: false,
    },
    { name: 'without ranges', subject: range('subject'), others: [], addresses: [address('10.1.0.5')], expected: true },
  ];
  for (const { name, subject: given = subject, others, addresses, expected } of rows) {
    test(name, () => {
      const overlapping = [given, ...others].map((each) => frozen(each));
      expect(isDeletable({ range: frozen(given), overlapping, addresses: addresses.map((each) => frozen(each)) })).toBe(
        expected,
      );
    });
  }
});
