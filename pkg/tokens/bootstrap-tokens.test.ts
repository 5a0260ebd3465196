import { describe, expect, test } from 'vitest';

import { computeTokenExpiry, tokenField } from './bootstrap-tokens.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const secretWith = (fields: Record<string, string>) => ({
  metadata: { name: 'bootstrap-token-abcdef', uid: '', resourceVersion: '', creationTimestamp: '' },
  data: Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, Buffer.from(text).toString('base64')])),
});

describe('computeTokenExpiry', () => {
  const rows = [
    { expiration: '', expected: { kind: 'never' } },
    { expiration: '2026-01-01T00:00:00Z', expected: { kind: 'expired' } },
    { expiration: '2026-01-01T00:00:01Z', expected: { kind: 'later', inMs: 1000 } },
    { expiration: '2026-01-01T00:00:00.25Z', expected: { kind: 'later', inMs: 250 } },
    { expiration: '2026-01-01T01:00:01+01:00', expected: { kind: 'later', inMs: 1000 } },
    { expiration: '2025-12-31T23:00:00-00:30', expected: { kind: 'expired' } },
    { expiration: 'tomorrow', expected: { kind: 'expired' } },
    { expiration: '2027', expected: { kind: 'expired' } },
    { expiration: '2027-02-31T00:00:00Z', expected: { kind: 'expired' } },
    { expiration: '2027-01-01T00:00:00', expected: { kind: 'expired' } },
  ];
  for (const { expiration, expected } of rows) {
    test(`"${expiration}" is ${expected.kind}`, () =>
      expect(computeTokenExpiry(secretWith({ expiration }), nowMs)).toEqual(expected));
  }
  test('a Secret without data never expires', () => {
    const { metadata } = secretWith({});
    expect(computeTokenExpiry({ metadata }, nowMs)).toEqual({ kind: 'never' });
  });
});

test('tokenField reads own entries only', () => {
  expect(tokenField(secretWith({ 'token-id': 'abcdef' }), 'token-id')).toBe('abcdef');
  expect(tokenField(secretWith({}), 'constructor')).toBe('');
});
