import { describe, expect, test } from 'vitest';
import { pinnedVersion } from './binaries.ts';

const goMod = `module example

go 1.26.0

require single.example v1.2.3

require (
	k8s.io/kubernetes/extra v9.9.9
	k8s.io/kubernetes v1.36.4
	go.etcd.io/etcd/server/v3 v3.6.8 // indirect
)
`;

const rows = [
  { name: 'finds a module in a block', module: 'k8s.io/kubernetes', expected: 'v1.36.4' },
  { name: 'finds an indirect one', module: 'go.etcd.io/etcd/server/v3', expected: 'v3.6.8' },
  { name: 'finds one on a line of its own', module: 'single.example', expected: 'v1.2.3' },
];

describe('pinnedVersion', () => {
  for (const { name, module, expected } of rows) {
    test(name, () => expect(pinnedVersion(goMod, module)).toBe(expected));
  }

  test('refuses a module that is not required', () => {
    expect(() => pinnedVersion(goMod, 'example')).toThrow('go.mod does not require it');
  });
});
