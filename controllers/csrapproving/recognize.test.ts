import { describe, expect, test } from 'vitest';

import { selectRecognitions } from './recognize.ts';

const names = {
  commonName: 'system:node:a',
  organizations: ['system:nodes'],
  dnsNames: [],
  emailAddresses: [],
  ipAddresses: [],
  uris: [],
};
const spec = {
  request: '',
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  username: 'system:bootstrap:abcdef',
  usages: ['digital signature', 'client auth'],
};

describe('selectRecognitions', () => {
  const rows = [
    { name: 'the first certificate of a node', change: {}, expected: ['nodeclient'] },
    {
      name: 'a node that renews its own certificate',
      change: { username: 'system:node:a' },
      expected: ['selfnodeclient', 'nodeclient'],
    },
    { name: 'another node', change: { username: 'system:node:b' }, expected: ['nodeclient'] },
    { name: 'another signer', change: { signerName: 'kubernetes.io/kube-apiserver-client' }, expected: [] },
    { name: 'usages that no kubelet needs', change: { usages: ['cert sign', 'client auth'] }, expected: [] },
  ];
  for (const { name, change, expected } of rows) {
    test(name, () => {
      const recognitions = selectRecognitions({ ...spec, ...change }, names);
      expect(recognitions.map(({ subresource }) => subresource)).toEqual(expected);
    });
  }
  test('a request that asks for more than a kubelet may have', () => {
    expect(selectRecognitions(spec, { ...names, organizations: ['system:masters'] })).toEqual([]);
  });
});
