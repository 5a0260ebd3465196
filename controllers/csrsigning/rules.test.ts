import { describe, expect, test } from 'vitest';

import { findSignerProblem } from './rules.ts';

const names = {
  commonName: 'jane',
  organizations: ['dev'],
  dnsNames: ['a'],
  emailAddresses: [],
  ipAddresses: [],
  uris: [],
};

describe('findSignerProblem', () => {
  const rows = [
    { signer: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'], expected: undefined },
    {
      signer: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth', 'digital signature', 'key encipherment'],
      expected: undefined,
    },
    {
      signer: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth', 'server auth'],
      expected: 'invalid usage for client certificate: server auth',
    },
    {
      signer: 'kubernetes.io/kube-apiserver-client',
      usages: ['digital signature'],
      expected: 'missing required usage for client certificate: client auth',
    },
    { signer: 'kubernetes.io/legacy-unknown', usages: ['cert sign'], expected: undefined },
    {
      signer: 'kubernetes.io/kubelet-serving',
      usages: ['server auth'],
      expected: 'subject organization is not system:nodes',
    },
    {
      signer: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['client auth'],
      expected: 'subject organization is not system:nodes',
    },
  ] as const;
  for (const { signer, usages, expected } of rows) {
    test(`${signer} ${expected === undefined ? 'signs' : 'refuses'} ${usages.join(', ')}`, () =>
      expect(findSignerProblem(signer, names, usages)).toBe(expected));
  }
});
