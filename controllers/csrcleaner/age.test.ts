import { describe, expect, test } from 'vitest';

import { CertificateSigningRequests, formatTime, type CertificateSigningRequest } from '../../pkg/api/index.ts';
import { createSelfSigned } from '../../pkg/certificates/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { findCleanUpReason } from './age.ts';

const hour = 3_600_000;
const nowMs = Date.UTC(2026, 0, 2);
const ago = (ms: number): string => formatTime(nowMs - ms);
const certificateUntil = (untilMs: number): string => {
  const validity = { fromMs: nowMs - 48 * hour, untilMs };
  const { certificate } = createSelfSigned({ commonName: 'x', usages: ['client'], validity });
  return Buffer.from(certificate).toString('base64');
};
const valid = certificateUntil(nowMs + hour);
const expired = certificateUntil(nowMs - hour);
const condition = (type: string, lastUpdateTime: string | null) => ({ type, status: 'True', lastUpdateTime });

interface Row {
  readonly name: string;
  readonly createdMs?: number;
  readonly conditions?: readonly object[];
  readonly certificate?: string;
  readonly expected: string | undefined;
}

describe('findCleanUpReason', () => {
  const rows: readonly Row[] = [
    { name: 'keeps a pending request for a day', createdMs: 24 * hour, expected: undefined },
    { name: 'expires a pending request after a day', createdMs: 24 * hour + 1000, expected: 'Pending' },
    {
      name: 'keeps an issued request for an hour',
      conditions: [condition('Approved', ago(hour))],
      certificate: valid,
      expected: undefined,
    },
    {
      name: 'expires an issued request after an hour',
      conditions: [condition('Approved', ago(hour + 1000))],
      certificate: valid,
      expected: 'Issued',
    },
    {
      name: 'expires an issued request at once when its certificate has expired',
      conditions: [condition('Approved', ago(0))],
      certificate: expired,
      expected: 'Expired',
    },
    {
      name: 'keeps a request whose certificate cannot be parsed',
      conditions: [condition('Approved', ago(0))],
      certificate: 'eA==',
      expected: undefined,
    },
    { name: 'keeps a denied request for an hour', conditions: [condition('Denied', ago(hour))], expected: undefined },
    {
      name: 'expires a denied request after an hour',
      conditions: [condition('Denied', ago(hour + 1000))],
      expected: 'Denied',
    },
    {
      name: 'expires a failed request after an hour',
      conditions: [condition('Approved', ago(0)), condition('Failed', ago(hour + 1000))],
      expected: 'Failed',
    },
    {
      name: 'keeps an approved but unsigned request for a day',
      conditions: [condition('Approved', ago(24 * hour))],
      expected: undefined,
    },
    {
      name: 'expires an approved but unsigned request after a day',
      conditions: [condition('Approved', ago(24 * hour + 1000))],
      expected: 'ApprovedUnissued',
    },
    {
      name: 'keeps a request whose condition has no time',
      createdMs: 48 * hour,
      conditions: [condition('Denied', null)],
      expected: undefined,
    },
  ];
  for (const { name, createdMs = 0, conditions, certificate, expected } of rows) {
    test(name, () => {
      const request = build<CertificateSigningRequest>(CertificateSigningRequests, { name: 'a' }, {
        spec: { request: '', signerName: 'x' },
        status: { ...(conditions && { conditions }), ...(certificate && { certificate }) },
      } as Pick<CertificateSigningRequest, 'spec' | 'status'>);
      const metadata = { ...request.metadata, creationTimestamp: ago(createdMs) };
      expect(findCleanUpReason(frozen({ ...request, metadata }), nowMs)).toBe(expected);
    });
  }
});
