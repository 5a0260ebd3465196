import { describe, expect, test } from 'vitest';

import { frozen, secret, serviceAccount } from '../../test/support/builders.ts';
import { claimsOf, planTokenSecret, withoutReference } from './token-secret.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const account = frozen(serviceAccount({ namespace: 'team', name: 'robot' }));
const full = { 'ca.crt': base64('CA'), namespace: base64('team'), token: base64('old') };

describe('planTokenSecret', () => {
  const parts = { token: 'new', rootCa: 'CA' };
  const rows = [
    { name: 'fills an empty secret', data: undefined, expected: { ...full, token: base64('new') } },
    { name: 'keeps a complete Secret', data: full, expected: undefined },
    { name: 'keeps an existing token', data: { token: base64('old') }, expected: full },
    {
      name: 'replaces an empty token',
      data: { ...full, token: '' },
      expected: { ...full, token: base64('new') },
    },
    { name: 'replaces another CA', data: { ...full, 'ca.crt': base64('other') }, expected: full },
    { name: 'keeps an existing namespace', data: { ...full, namespace: base64('x') }, expected: undefined },
    {
      name: 'keeps other data',
      data: { ...full, token: '', more: 'x' },
      expected: { ...full, token: base64('new'), more: 'x' },
    },
    {
      name: 'keeps the CA if none is configured',
      rootCa: '',
      data: { ...full, 'ca.crt': base64('other') },
      expected: undefined,
    },
    {
      name: 'adds no CA if none is configured',
      rootCa: '',
      data: {},
      expected: { namespace: base64('team'), token: base64('new') },
    },
  ];
  for (const { name, data, expected, rootCa = 'CA' } of rows) {
    test(name, () => {
      const present = frozen(secret({ namespace: 'team', name: 'token' }, data === undefined ? {} : { data }));
      expect(planTokenSecret(present, account, { ...parts, rootCa })?.data).toEqual(expected);
    });
  }

  test('sets the annotations of the account and keeps the resource version', () => {
    const annotations = { 'kubernetes.io/service-account.name': 'robot', mine: 'kept' };
    const planned = planTokenSecret(frozen(secret({ namespace: 'team', name: 'token', annotations })), account, parts);
    expect(planned?.metadata).toMatchObject({
      resourceVersion: '1',
      annotations: { ...annotations, 'kubernetes.io/service-account.uid': account.metadata.uid },
    });
  });
});

test('a token names its account and its Secret', () => {
  expect(claimsOf(account, frozen(secret({ namespace: 'team', name: 'token' })))).toEqual({
    iss: 'kubernetes/serviceaccount',
    sub: 'system:serviceaccount:team:robot',
    'kubernetes.io/serviceaccount/namespace': 'team',
    'kubernetes.io/serviceaccount/secret.name': 'token',
    'kubernetes.io/serviceaccount/service-account.name': 'robot',
    'kubernetes.io/serviceaccount/service-account.uid': account.metadata.uid,
  });
});

describe('withoutReference', () => {
  const rows = [
    { name: 'removes every reference to the Secret', secrets: ['a', 'b', 'a'], expected: ['b'] },
    { name: 'removes the last reference', secrets: ['a'], expected: [] },
    { name: 'changes nothing without a reference to the Secret', secrets: ['b'], expected: undefined },
    { name: 'changes nothing without references', secrets: undefined, expected: undefined },
  ];
  for (const { name, secrets, expected } of rows) {
    test(name, () => {
      const references = secrets?.map((each) => ({ name: each }));
      const present = { ...serviceAccount(), ...(references && { secrets: references }) };
      expect(withoutReference(present, 'a')?.secrets?.map((reference) => reference.name)).toEqual(expected);
    });
  }
});
