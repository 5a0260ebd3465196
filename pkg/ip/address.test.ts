import { describe, expect, test } from 'vitest';

import { parseIp } from './address.ts';

const rows = [
  { text: '10.0.0.1', found: 'IPv4 10.0.0.1' },
  { text: '010.0.000.01', found: 'IPv4 10.0.0.1' },
  { text: '10.0.0.256', found: undefined },
  { text: '10.0.0', found: undefined },
  { text: '', found: undefined },
  { text: 'name', found: undefined },
  { text: '2001:DB8:0:0:0:0:0:1', found: 'IPv6 2001:db8::1' },
  { text: '::', found: 'IPv6 ::' },
  { text: '1:0:0:2:0:0:0:3', found: 'IPv6 1:0:0:2::3' },
  { text: '::ffff:10.1.2.3', found: 'IPv4 10.1.2.3' },
  { text: 'fe80::1%eth0', found: undefined },
];

describe('parseIp', () => {
  for (const { text, found } of rows) {
    test(`${JSON.stringify(text)} is ${found ?? 'no address'}`, () => {
      const ip = parseIp(text);
      expect(ip === undefined ? undefined : `${ip.family} ${ip.text}`).toBe(found);
    });
  }
});
