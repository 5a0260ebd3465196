import { describe, expect, test } from 'vitest';

import { computeSignedData, selectSigningToken } from './signatures.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const complete = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-signing': 'true',
};
const secretWith = (fields: Record<string, string>, name = 'bootstrap-token-abcdef') => ({
  metadata: { name, uid: '', resourceVersion: '', creationTimestamp: '' },
  data: Object.fromEntries(Object.entries(fields).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});

describe('selectSigningToken', () => {
  const rows = [
    { name: 'a complete token', fields: complete, signs: true },
    { name: 'a token that expires later', fields: { ...complete, expiration: '2026-01-01T00:00:01Z' }, signs: true },
    { name: 'an expired token', fields: { ...complete, expiration: '2026-01-01T00:00:00Z' }, signs: false },
    { name: 'a token for other purposes', fields: { ...complete, 'usage-bootstrap-signing': 'yes' }, signs: false },
    { name: 'a token without a secret', fields: { ...complete, 'token-secret': '' }, signs: false },
    { name: 'a token of another name', fields: { ...complete, 'token-id': 'abcdeg' }, signs: false },
    { name: 'a Secret of another name', fields: complete, secretName: 'bootstrap-token-ABCDEF', signs: false },
  ];
  for (const { name, fields, secretName, signs } of rows) {
    test(`${name} ${signs ? 'signs' : 'does not sign'}`, () => {
      const token = selectSigningToken(secretWith(fields, secretName), nowMs);
      expect(token).toEqual(signs ? { id: 'abcdef', secret: '0123456789abcdef' } : undefined);
    });
  }
});

describe('computeSignedData', () => {
  const token = { id: 'abcdef', secret: '0123456789abcdef' };
  const other = { id: 'zzzzzz', secret: 'fedcba9876543210' };
  // Made by the Go library that the Go binary signs with.
  const signature = 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..psz1NayrXM3IaFzKZGsb5n_mBl7MjtlsZ1xE8MRmF_4';

  test('signs as the Go binary does', () => {
    expect(computeSignedData({ data: { kubeconfig: 'content' } }, [token])).toEqual({
      kubeconfig: 'content',
      'jws-kubeconfig-abcdef': signature,
    });
  });
  test('keeps valid signatures', () => {
    const data = computeSignedData({ data: { kubeconfig: 'content', constructor: 'x' } }, [token, other]);
    expect(computeSignedData({ data: { ...data } }, [other, token])).toBeUndefined();
  });
  test('removes the signatures of deleted tokens, and nothing else', () => {
    const data = computeSignedData({ data: { kubeconfig: 'content', more: 'x' } }, [token, other]);
    expect(Object.keys(computeSignedData({ data: { ...data } }, [token]) ?? {})).toEqual([
      'kubeconfig',
      'more',
      'jws-kubeconfig-abcdef',
    ]);
  });
  test('replaces a forged signature', () => {
    const data = { kubeconfig: 'content', 'jws-kubeconfig-abcdef': 'forged' };
    expect(computeSignedData({ data }, [token])?.['jws-kubeconfig-abcdef']).toBe(signature);
  });
  test('signs nothing without a kubeconfig', () => {
    expect(computeSignedData({ data: { 'jws-kubeconfig-abcdef': 'x' } }, [token])).toBeUndefined();
    expect(computeSignedData({}, [token])).toBeUndefined();
  });
});
