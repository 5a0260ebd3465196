import { describe, expect, test } from 'vitest';

import { findKubeletClientProblem, findKubeletServingProblem, type RequestedNames } from './kubelet.ts';

const node: RequestedNames = {
  commonName: 'system:node:a',
  organizations: ['system:nodes'],
  dnsNames: [],
  emailAddresses: [],
  ipAddresses: [],
  uris: [],
};
const clientUsages = ['digital signature', 'key encipherment', 'client auth'];
const servingUsages = ['digital signature', 'key encipherment', 'server auth'];
const clientMismatch = 'usages did not match [client auth digital signature key encipherment]';
const servingMismatch = 'usages did not match [digital signature key encipherment server auth]';

interface Row {
  readonly name: string;
  readonly change?: Partial<RequestedNames>;
  readonly usages?: readonly string[];
  readonly expected: string | undefined;
}

const noGroup = 'subject organization is not system:nodes';
const noPrefix = 'subject common name does not begin with system:node:';

describe('findKubeletClientProblem', () => {
  const rows: readonly Row[] = [
    { name: 'accepts a node', expected: undefined },
    { name: 'accepts usages in another order', usages: clientUsages.toReversed(), expected: undefined },
    {
      name: 'accepts usages without key encipherment',
      usages: ['digital signature', 'client auth'],
      expected: undefined,
    },
    { name: 'refuses a further usage', usages: [...clientUsages, 'server auth'], expected: clientMismatch },
    { name: 'refuses a missing usage', usages: ['key encipherment', 'client auth'], expected: clientMismatch },
    { name: 'refuses other groups', change: { organizations: ['system:nodes', 'system:masters'] }, expected: noGroup },
    { name: 'refuses no group', change: { organizations: [] }, expected: noGroup },
    { name: 'refuses other users', change: { commonName: 'admin' }, expected: noPrefix },
    { name: 'refuses DNS names', change: { dnsNames: ['a'] }, expected: 'DNS subjectAltNames are not allowed' },
    {
      name: 'refuses mail addresses',
      change: { emailAddresses: ['a@b'] },
      expected: 'Email subjectAltNames are not allowed',
    },
    { name: 'refuses addresses', change: { ipAddresses: ['::1'] }, expected: 'IP subjectAltNames are not allowed' },
    { name: 'refuses URIs', change: { uris: ['a:b'] }, expected: 'URI subjectAltNames are not allowed' },
  ];
  for (const { name, change, usages = clientUsages, expected } of rows) {
    test(name, () => expect(findKubeletClientProblem({ ...node, ...change }, usages)).toBe(expected));
  }
});

describe('findKubeletServingProblem', () => {
  const rows: readonly Row[] = [
    { name: 'accepts a DNS name', change: { dnsNames: ['a'] }, expected: undefined },
    { name: 'accepts an address', change: { ipAddresses: ['10.0.0.1'] }, expected: undefined },
    {
      name: 'accepts usages without key encipherment',
      change: { dnsNames: ['a'] },
      usages: ['digital signature', 'server auth'],
      expected: undefined,
    },
    { name: 'refuses a request without names', expected: 'DNS or IP subjectAltName is required' },
    {
      name: 'refuses mail addresses',
      change: { dnsNames: ['a'], emailAddresses: ['a@b'] },
      expected: 'Email subjectAltNames are not allowed',
    },
    {
      name: 'refuses URIs',
      change: { dnsNames: ['a'], uris: ['a:b'] },
      expected: 'URI subjectAltNames are not allowed',
    },
    {
      name: 'refuses the usages of a client',
      change: { dnsNames: ['a'] },
      usages: clientUsages,
      expected: servingMismatch,
    },
    { name: 'refuses other groups', change: { dnsNames: ['a'], organizations: ['x'] }, expected: noGroup },
    { name: 'refuses other users', change: { dnsNames: ['a'], commonName: 'x' }, expected: noPrefix },
  ];
  for (const { name, change, usages = servingUsages, expected } of rows) {
    test(name, () => expect(findKubeletServingProblem({ ...node, ...change }, usages)).toBe(expected));
  }
});
