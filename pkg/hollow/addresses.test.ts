import { describe, expect, test } from 'vitest';
import { AddressPool, nodeIPv4, podIPv4, podIPv6 } from './addresses.ts';

describe('AddressPool', () => {
  test('allocates no address twice, and none of an earlier run', () => {
    const pool = new AddressPool();
    pool.reserve('10.128.0.2');
    expect([pool.take(), pool.take(), pool.take()].map(podIPv4)).toEqual(['10.128.0.1', '10.128.0.3', '10.128.0.4']);
  });

  test('uses an address again only after all others', () => {
    const pool = new AddressPool();
    pool.release(pool.take());
    expect(podIPv4(pool.take())).toBe('10.128.0.2');
  });

  test('ignores addresses outside the pool', () => {
    const pool = new AddressPool();
    const foreign = ['10.0.0.1', '172.16.0.1', 'fd00::1', '10.128.0.0', '10.128.0'];
    expect(foreign.map((ip) => pool.reserve(ip))).toEqual(foreign.map(() => undefined));
  });
});

test('a thousand blocks of addresses can be parsed again', () => {
  const seen = new Set<string>();
  for (let index = 1; index < 254_000; index += 127) {
    const ip = podIPv4(index);
    expect(new AddressPool().reserve(ip)).toBe(index);
    seen.add(ip).add(podIPv6(index));
  }
  expect(seen.size).toBe(2 * Math.ceil(253_999 / 127));
});

test('machines are numbered from the first usable address', () => {
  expect([0, 253, 254].map(nodeIPv4)).toEqual(['172.16.0.1', '172.16.0.254', '172.16.1.1']);
});
