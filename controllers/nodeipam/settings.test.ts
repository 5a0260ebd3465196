import { describe, expect, test } from 'vitest';

import { readRangeSettings, type RangeFlags } from './settings.ts';

const base: RangeFlags = {
  'allocate-node-cidrs': true,
  'cluster-cidr': '10.244.0.0/16',
  'service-cluster-ip-range': '',
  'node-cidr-mask-size': 0,
  'node-cidr-mask-size-ipv4': 0,
  'node-cidr-mask-size-ipv6': 0,
};
const dual = { 'cluster-cidr': '10.244.0.0/16,fd00:10:244::/56' };
const six = { 'cluster-cidr': 'fd00:10:244::/56' };

describe('readRangeSettings', () => {
  const accepted: { name: string; flags: Partial<RangeFlags>; prefixes: number[]; services?: string[] }[] = [
    { name: 'the default for IPv4', flags: {}, prefixes: [24] },
    { name: 'the default for IPv6', flags: six, prefixes: [64] },
    { name: 'the defaults of two families', flags: dual, prefixes: [24, 64] },
    { name: 'one size for a single family', flags: { 'node-cidr-mask-size': 20 }, prefixes: [20] },
    { name: 'the size of IPv4 alone', flags: { 'node-cidr-mask-size-ipv4': 26 }, prefixes: [26] },
    {
      name: 'sizes of two families',
      flags: { ...dual, 'node-cidr-mask-size-ipv4': 25, 'node-cidr-mask-size-ipv6': 72 },
      prefixes: [25, 72],
    },
    {
      name: 'Services of two families',
      flags: { 'service-cluster-ip-range': '10.96.0.0/12,fd00:10:96::/112' },
      prefixes: [24],
      services: ['10.96.0.0/12', 'fd00:10:96::/112'],
    },
  ];
  for (const { name, flags, prefixes, services = [] } of accepted) {
    test(`accepts ${name}`, () => {
      const settings = readRangeSettings({ ...base, ...flags });
      expect(settings?.cluster.map(({ nodePrefix }) => nodePrefix)).toEqual(prefixes);
      expect(settings?.services.map(({ text }) => text)).toEqual(services);
    });
  }

  test('reads nothing while node CIDRs are not allocated', () => {
    expect(readRangeSettings({ ...base, 'allocate-node-cidrs': false, 'cluster-cidr': 'x' })).toBeUndefined();
  });

  const refused: { flags: Partial<RangeFlags>; message: string }[] = [
    {
      flags: { 'cluster-cidr': '' },
      message: '--cluster-cidr: must be set if --allocate-node-cidrs is set',
    },
    { flags: { 'cluster-cidr': '10.0.0.0' }, message: '--cluster-cidr: "10.0.0.0" is not a CIDR' },
    {
      flags: { 'cluster-cidr': '10.0.0.0/16,10.1.0.0/16' },
      message: '--cluster-cidr: two CIDRs must be of different families, and both are IPv4',
    },
    {
      flags: { 'cluster-cidr': '10.0.0.0/16,fd00::/56,10.1.0.0/16' },
      message: '--cluster-cidr: has 3 CIDRs, and at most two are allowed',
    },
    { flags: { 'cluster-cidr': '10.0.0.0/25' }, message: "--cluster-cidr: 10.0.0.0/25 is smaller than a node's /24" },
    {
      flags: { 'cluster-cidr': 'fd00::/40' },
      message: "--cluster-cidr: fd00::/40 is more than 16 bits larger than a node's /64",
    },
    {
      flags: { ...dual, 'node-cidr-mask-size': 24 },
      message: '--node-cidr-mask-size: is not allowed with two cluster CIDRs: set it for each family',
    },
    {
      flags: { 'node-cidr-mask-size': 24, 'node-cidr-mask-size-ipv4': 24 },
      message: '--node-cidr-mask-size-ipv4: is not allowed together with --node-cidr-mask-size',
    },
    {
      flags: { ...six, 'node-cidr-mask-size-ipv4': 24 },
      message: '--node-cidr-mask-size-ipv4: is not allowed without an IPv4 range in --cluster-cidr',
    },
    {
      flags: { 'node-cidr-mask-size-ipv6': 64 },
      message: '--node-cidr-mask-size-ipv6: is not allowed without an IPv6 range in --cluster-cidr',
    },
    {
      flags: { 'node-cidr-mask-size': 33 },
      message: '--node-cidr-mask-size: /33 is longer than an address',
    },
    {
      flags: { 'service-cluster-ip-range': '10.96.0.0/12,10.97.0.0/16' },
      message: '--service-cluster-ip-range: two CIDRs must be of different families, and both are IPv4',
    },
    {
      flags: { 'service-cluster-ip-range': 'services' },
      message: '--service-cluster-ip-range: "services" is not a CIDR',
    },
  ];
  for (const { flags, message } of refused) {
    test(`refuses ${JSON.stringify(flags)}`, () => {
      expect(() => readRangeSettings({ ...base, ...flags })).toThrow(message);
    });
  }
});
