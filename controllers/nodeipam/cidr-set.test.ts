import { describe, expect, test } from 'vitest';

import { parseCidr, type Cidr } from '../../pkg/ip/index.ts';
import { CidrSet } from './cidr-set.ts';

const cidr = (text: string): Cidr => parseCidr(text) ?? expect.unreachable(text);
const ignore = { allocated() {}, released() {}, found() {} };

function take(set: CidrSet, count: number): (string | undefined)[] {
  return Array.from({ length: count }, () => set.allocate()?.text);
}

describe('allocate', () => {
  const rows = [
    {
      name: 'allocates IPv4 blocks in order, then none',
      cluster: '10.0.0.0/30',
      prefix: 31,
      expected: ['10.0.0.0/31', '10.0.0.2/31', undefined],
    },
    { name: 'allocates the whole range to one node', cluster: '10.1.0.0/24', prefix: 24, expected: ['10.1.0.0/24'] },
    {
      name: 'allocates IPv6 blocks in the left half of the address',
      cluster: 'fd00:10:244::/48',
      prefix: 64,
      expected: ['fd00:10:244::/64', 'fd00:10:244:1::/64', 'fd00:10:244:2::/64'],
    },
    {
      name: 'allocates IPv6 blocks in the right half of the address',
      cluster: 'fd00::/112',
      prefix: 120,
      expected: ['fd00::/120', 'fd00::100/120'],
    },
    {
      name: 'allocates IPv6 blocks across both halves',
      cluster: 'fd00::/60',
      prefix: 68,
      expected: ['fd00::/68', 'fd00::1000:0:0:0/68'],
    },
  ];
  for (const { name, cluster, prefix, expected } of rows) {
    test(name, () => expect(take(new CidrSet(cidr(cluster), prefix, ignore), expected.length)).toEqual(expected));
  }

  test('reuses a released block as late as possible', () => {
    const set = new CidrSet(cidr('10.0.0.0/22'), 24, ignore);
    expect(take(set, 2)).toEqual(['10.0.0.0/24', '10.0.1.0/24']);
    set.release(cidr('10.0.0.0/24'));
    expect(take(set, 3)).toEqual(['10.0.2.0/24', '10.0.3.0/24', '10.0.0.0/24']);
    expect(set.allocate()).toBeUndefined();
  });
});

describe('occupy', () => {
  const rows = [
    { name: 'a block', ranges: ['10.0.1.0/24'], left: ['10.0.0.0/24', '10.0.2.0/24', '10.0.3.0/24'] },
    { name: 'a range of several blocks', ranges: ['10.0.0.0/23'], left: ['10.0.2.0/24', '10.0.3.0/24'] },
    { name: 'a part of a block', ranges: ['10.0.3.64/26'], left: ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24'] },
    { name: 'a range that contains all', ranges: ['10.0.0.0/8'], left: [] },
    { name: 'overlapping ranges', ranges: ['10.0.0.0/23', '10.0.1.0/24'], left: ['10.0.2.0/24', '10.0.3.0/24'] },
  ];
  for (const { name, ranges, left } of rows) {
    test(`keeps ${name} from being allocated`, () => {
      const set = new CidrSet(cidr('10.0.0.0/22'), 24, ignore);
      for (const range of ranges) expect(set.occupy(cidr(range))).toBe(true);
      expect(take(set, left.length + 1)).toEqual([...left, undefined]);
    });
  }

  test('reports a range outside of the cluster CIDR', () => {
    const set = new CidrSet(cidr('10.0.0.0/22'), 24, ignore);
    expect(set.occupy(cidr('10.1.0.0/24'))).toBe(false);
    expect(set.occupy(cidr('fd00::/64'))).toBe(false);
  });
});

test('a block is free only when the last of its overlapping ranges is released', () => {
  const set = new CidrSet(cidr('10.0.0.0/24'), 24, ignore);
  set.occupy(cidr('10.0.0.0/24'));
  set.occupy(cidr('10.0.0.0/25'));
  set.release(cidr('10.0.0.0/24'));
  expect(set.allocate()).toBeUndefined();
  set.release(cidr('10.0.0.0/25'));
  expect(set.allocate()?.text).toBe('10.0.0.0/24');
});

test('counts each change of a block once, with the usage after it', () => {
  const seen: string[] = [];
  const set = new CidrSet(cidr('10.0.0.0/22'), 24, {
    allocated: (_, usage) => seen.push(`allocated ${usage}`),
    released: (_, usage) => seen.push(`released ${usage}`),
    found: (_, tries) => seen.push(`found ${tries}`),
  });
  set.occupy(cidr('10.0.0.0/23'));
  set.occupy(cidr('10.0.0.0/24'));
  set.allocate();
  set.release(cidr('10.0.0.0/24'));
  set.release(cidr('10.0.0.0/24'));
  expect(seen).toEqual(['allocated 0.25', 'allocated 0.5', 'allocated 0.75', 'found 2', 'released 0.5']);
});
