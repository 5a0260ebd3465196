import { describe, expect, test } from 'vitest';

import { Pods } from '../../pkg/api/index.ts';
import { frozen, pod } from '../../test/support/builders.ts';
import { claimTemplate } from '../../test/support/claim-builders.ts';
import { adminSpec, claimSpec } from '../../test/support/claim-user.ts';
import { claimFromTemplate, generateNameFor, hasAdminAccess, hasAlternatives } from './new-claim.ts';

describe('the name of a claim starts with', () => {
  const rows = [
    { user: 'web', entry: 'gpu', expected: 'web-gpu-' },
    { user: 'x'.repeat(30), entry: 'y'.repeat(25), expected: `${'x'.repeat(30)}-${'y'.repeat(25)}-` },
    { user: 'x'.repeat(30), entry: 'y'.repeat(26), expected: `${'x'.repeat(29)}-${'y'.repeat(25)}` },
    { user: 'x'.repeat(200), entry: 'y', expected: `${'x'.repeat(56)}-` },
  ];
  for (const { user, entry, expected } of rows) {
    test(`${user.length} and ${entry.length} characters: ${expected}`, () => {
      expect(generateNameFor(user, entry)).toBe(expected);
    });
  }
});

test('a claim has the metadata and spec of its template, and its user as controller', () => {
  const metadata = { labels: { constructor: 'yes' }, annotations: { note: 'this' } };
  const template = frozen(claimTemplate({ spec: { metadata, spec: claimSpec } }));
  const user = frozen(pod({ name: 'user' }));
  expect(claimFromTemplate(template, user, Pods, 'gpu')).toEqual({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      generateName: 'user-gpu-',
      namespace: 'default',
      labels: { constructor: 'yes' },
      annotations: { note: 'this', 'resource.kubernetes.io/pod-claim-name': 'gpu' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'user', uid: user.metadata.uid, controller: true }],
    },
    spec: claimSpec,
  });
});

test('admin access and alternatives are found in any request', () => {
  const alternatives = {
    devices: { requests: [{ name: 'any', firstAvailable: [{ name: 'a', deviceClassName: 'b' }] }] },
  };
  expect([claimSpec, adminSpec, alternatives, {}].map(hasAdminAccess)).toEqual([false, true, false, false]);
  expect([claimSpec, adminSpec, alternatives, {}].map(hasAlternatives)).toEqual([false, false, true, false]);
});
