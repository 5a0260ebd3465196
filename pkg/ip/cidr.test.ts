import { describe, expect, test } from 'vitest';

import { addressNumber, areOverlapping, cidrOf, parseCidr } from './cidr.ts';

describe('parseCidr', () => {
  const rows = [
    { name: 'an IPv4 range', text: '10.244.0.0/16', expected: '10.244.0.0/16' },
    { name: 'bits behind the prefix are cleared', text: '10.244.3.7/24', expected: '10.244.3.0/24' },
    { name: 'leading zeros of old objects', text: '010.001.000.000/16', expected: '10.1.0.0/16' },
    { name: 'the whole of IPv4', text: '1.2.3.4/0', expected: '0.0.0.0/0' },
    { name: 'a single address', text: '10.0.0.1/32', expected: '10.0.0.1/32' },
    { name: 'an IPv6 range', text: 'FD00:10:244:0::/56', expected: 'fd00:10:244::/56' },
    { name: 'bits behind an IPv6 prefix are cleared', text: 'fd00:10:244:1:2::/64', expected: 'fd00:10:244:1::/64' },
    { name: 'an IPv4 range in IPv6 notation', text: '::ffff:10.0.0.0/104', expected: '10.0.0.0/8' },
    { name: 'no prefix', text: '10.0.0.0', expected: undefined },
    { name: 'a prefix that is too long', text: '10.0.0.0/33', expected: undefined },
    { name: 'a prefix that is no number', text: '10.0.0.0/x', expected: undefined },
    { name: 'an empty text', text: '', expected: undefined },
    { name: 'no address', text: 'pods/24', expected: undefined },
  ];
  for (const { name, text, expected } of rows) test(name, () => expect(parseCidr(text)?.text).toBe(expected));
});

describe('areOverlapping', () => {
  const rows = [
    { a: '10.0.0.0/8', b: '10.244.0.0/16', expected: true },
    { a: '10.244.0.0/16', b: '10.0.0.0/8', expected: true },
    { a: '10.0.0.0/16', b: '10.1.0.0/16', expected: false },
    { a: '0.0.0.0/0', b: '::/0', expected: false },
    { a: 'fd00::/64', b: 'fd00::1/128', expected: true },
  ];
  for (const { a, b, expected } of rows) {
    test(`${a} and ${b}`, () => {
      const [left, right] = [parseCidr(a), parseCidr(b)];
      expect(left !== undefined && right !== undefined && areOverlapping(left, right)).toBe(expected);
    });
  }
});

describe('addressNumber', () => {
  test('reads every form of an IPv6 address', () => {
    expect(addressNumber('::', 'IPv6')).toBe(0n);
    expect(addressNumber('::1', 'IPv6')).toBe(1n);
    expect(addressNumber('1::', 'IPv6')).toBe(1n << 112n);
    expect(addressNumber('1:2:3:4:5:6:7:8', 'IPv6')).toBe(0x0001_0002_0003_0004_0005_0006_0007_0008n);
  });
  test('is what cidrOf formats', () => {
    expect(cidrOf('IPv6', addressNumber('fd00:0:0:1::5', 'IPv6'), 128).text).toBe('fd00:0:0:1::5/128');
    expect(cidrOf('IPv4', addressNumber('192.168.7.9', 'IPv4'), 32).text).toBe('192.168.7.9/32');
  });
});
