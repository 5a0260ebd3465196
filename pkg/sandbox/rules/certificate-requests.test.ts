import { beforeEach, describe, expect, test } from 'vitest';

import type { UntypedObject } from '../../api/index.ts';
import { refusalOf, SandboxApi } from '../../../test/support/sandbox-api.ts';

const resource = 'certificatesigningrequests.certificates.k8s.io';
const pem = '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n';
const request = Buffer.from(pem).toString('base64');
const spec = { request, signerName: 'example.com/x', usages: ['client auth'] };

let sandbox: SandboxApi;
let created: UntypedObject;
beforeEach(() => {
  sandbox = new SandboxApi();
  created = sandbox.create(resource, { metadata: { name: 'x' }, spec });
});

const approved = { type: 'Approved', status: 'True', reason: 'Test' };
const withConditions = (object: UntypedObject, ...conditions: object[]): UntypedObject => ({
  ...object,
  status: { conditions },
});
const conditionsOf = (object: UntypedObject): { type: string; lastUpdateTime?: string }[] =>
  (object['status'] as { conditions?: { type: string }[] } | undefined)?.conditions ?? [];

describe('a certificate request', () => {
  test('changes in its status only', () => {
    const changed = { ...created, spec: { ...spec, usages: ['server auth'] } };
    expect(sandbox.update(resource, changed)['spec']).toEqual(created['spec']);
    expect(sandbox.update(resource, withConditions(created, approved))['status']).toEqual(created['status']);
  });

  test('is approved through its own subresource, at a time that the server sets unless the client does', () => {
    const given = { type: 'Other', status: 'True', lastUpdateTime: '2020-01-01T00:00:00Z' };
    const updated = sandbox.update(resource, withConditions(created, approved, given), 'approval');
    expect(conditionsOf(updated)).toEqual([
      { ...approved, lastUpdateTime: expect.any(String) as string, lastTransitionTime: expect.any(String) as string },
      { ...given, lastTransitionTime: expect.any(String) as string },
    ]);
  });

  test('keeps its approval when its status is written', () => {
    const decided = sandbox.update(resource, withConditions(created, approved), 'approval');
    const failed = { type: 'Failed', status: 'True' };
    const updated = sandbox.update(
      resource,
      withConditions(decided, { ...approved, reason: 'Forged' }, failed),
      'status',
    );
    expect(conditionsOf(updated)).toMatchObject([approved, failed]);
  });

  const refused = [
    {
      name: 'text that is not a request',
      change: { request: 'eA==' },
      expected: 'spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST',
    },
    { name: 'no usages', change: { usages: [] }, expected: 'spec.usages: Required value' },
    {
      name: 'the legacy signer',
      change: { signerName: 'kubernetes.io/legacy-unknown' },
      expected:
        'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    },
    {
      name: 'less than ten minutes',
      change: { expirationSeconds: 599 },
      expected:
        'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
    },
  ];
  for (const { name, change, expected } of refused) {
    test(`cannot be created with ${name}`, () => {
      const body = { metadata: { name: 'y' }, spec: { ...spec, ...change } };
      expect(refusalOf(() => sandbox.create(resource, body))).toEqual([expected]);
    });
  }
});
