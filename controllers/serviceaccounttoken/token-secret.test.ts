import { describe, expect, test } from 'vitest';

import { frozen, secret, serviceAccount } from '../../test/support/builders.ts';
import { claimsOf, planTokenSecret, withoutReference } from './token-secret.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const account = frozen(serviceAccount({ namespace: 'team', name: 'robot' }));
const full = { 'ca.crt': base64('CA'), namespace: base64('team'), token: base64('old') };

describe('planTokenSecret', () => {
  const parts = { sign: () => 'new', rootCa: 'CA' };
  const rows = [
    { name: 'fills an empty secret', data: undefined, expected: { ...full, token: base64('new') } },
    { name: 'leaves a complete one alone', data: full, expected: undefined },
    { name: 'keeps a token that is there', data: { token: base64('old') }, expected: full },
    {
      name: 'replaces a token that was taken out',
      data: { ...full, token: '' },
      expected: { ...full, token: base64('new') },
    },
    { name: 'replaces another authority', data: { ...full, 'ca.crt': base64('other') }, expected: full },
    { name: 'keeps a namespace that is there', data: { ...full, namespace: base64('x') }, expected: undefined },
    {
      name: 'keeps what else is there',
      data: { ...full, token: '', more: 'x' },
      expected: { ...full, token: base64('new'), more: 'x' },
    },
    {
      name: 'leaves the authority alone without one of its own',
      rootCa: '',
      data: { ...full, 'ca.crt': base64('other') },
      expected: undefined,
    },
    {
      name: 'adds no authority without one of its own',
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

  test('writes down whose token it is, on the version it was planned on', () => {
    const annotations = { 'kubernetes.io/service-account.name': 'robot', mine: 'kept' };
    const planned = planTokenSecret(frozen(secret({ namespace: 'team', name: 'token', annotations })), account, parts);
    expect(planned?.metadata).toMatchObject({
      resourceVersion: '1',
      annotations: { ...annotations, 'kubernetes.io/service-account.uid': account.metadata.uid },
    });
  });
});

test('a token says whose it is and which secret keeps it alive', () => {
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
    { name: 'takes every reference to the secret out', secrets: ['a', 'b', 'a'], expected: ['b'] },
    { name: 'takes the last one out', secrets: ['a'], expected: [] },
    { name: 'has nothing to do without one', secrets: ['b'], expected: undefined },
    { name: 'has nothing to do without any', secrets: undefined, expected: undefined },
  ];
  for (const { name, secrets, expected } of rows) {
    test(name, () => {
      const references = secrets?.map((each) => ({ name: each }));
      const present = { ...serviceAccount(), ...(references && { secrets: references }) };
      expect(withoutReference(present, 'a')?.secrets?.map((reference) => reference.name)).toEqual(expected);
    });
  }
});
