import { describe, expect, test } from 'vitest';

import { pod } from '../../test/support/builders.ts';
import { areConflicting, labelsOf, volumeLabel } from './labels.ts';

const full = 'system_u:system_r:container_t:s0:c1,c2';

describe('areConflicting', () => {
  test.each([
    [full, full, false],
    [full, ':::s0:c1,c2', false], // the node may fill in the rest
    [full, ':::s0:c98,c99', true],
    [full, '', true],
    ['', '', false],
    [':::s0:c1', '', true],
    ['::a_t:', '::b_t:', true],
    ['::a_t:', 'user_u:::', false],
  ])('%s and %s: %s', (a, b, expected) => {
    expect(areConflicting(a, b)).toBe(expected);
    expect(areConflicting(b, a)).toBe(expected);
  });
});

test('containers have the label of their pod unless they have their own', () => {
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const own = { seLinuxOptions: { level: 's0:c2' } };
  const spec = {
    securityContext: { seLinuxOptions: { level: 's0:c1' } },
    initContainers: [{ name: 'init', image: 'x', volumeMounts }],
    containers: [
      { name: 'a', image: 'x', volumeMounts, securityContext: own },
      { name: 'b', image: 'x', volumeMounts: [{ name: 'other', mountPath: '/other' }] },
      { name: 'c', image: 'x' },
    ],
  };
  const expected = [
    ['data', new Set([':::s0:c1', ':::s0:c2'])],
    ['other', new Set([':::s0:c1'])],
  ];
  expect([...labelsOf(pod({ spec }))]).toEqual(expected);
});

test('no label and an empty one are the same', () => {
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const containers = [
    { name: 'a', image: 'x', volumeMounts },
    { name: 'b', image: 'x', volumeMounts, securityContext: { seLinuxOptions: {} } },
  ];
  expect(labelsOf(pod({ spec: { containers } })).get('data')).toEqual(new Set(['']));
});

describe('volumeLabel', () => {
  const recursive = { label: '', changePolicy: 'Recursive' };
  const rows = [
    {
      name: 'the label is set with the mount',
      label: 'l',
      isSupported: true,
      expected: { label: 'l', changePolicy: 'MountOption' },
    },
    { name: 'a plugin may not be able to', label: 'l', isSupported: false, expected: recursive },
    { name: 'no label is set file by file', label: '', isSupported: true, expected: recursive },
    { name: 'a pod may not want it', policy: 'Recursive', label: 'l', isSupported: true, expected: recursive },
  ];
  for (const { name, policy, label, isSupported, expected } of rows) {
    test(name, () => {
      const securityContext = policy === undefined ? {} : { seLinuxChangePolicy: policy };
      expect(volumeLabel(pod({ spec: { securityContext } }), label, isSupported)).toEqual(expected);
    });
  }
});
