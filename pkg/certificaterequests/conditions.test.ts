import { describe, expect, test } from 'vitest';

import type { CertificateSigningRequest } from '../api/index.ts';
import { hasFailed, isApproved, isDecided, isIssued } from './conditions.ts';

type Status = NonNullable<CertificateSigningRequest['status']>;
const withTypes = (...types: string[]): Status => ({ conditions: types.map((type) => ({ type, status: 'True' })) });

describe('conditions', () => {
  const rows: readonly { name: string; status: Status | undefined; expected: string }[] = [
    { name: 'a new request is pending', status: undefined, expected: '' },
    { name: 'an empty certificate counts as absent', status: { certificate: '' }, expected: '' },
    { name: 'a certificate', status: { certificate: 'x' }, expected: 'issued' },
    { name: 'an approval', status: withTypes('Approved'), expected: 'decided approved' },
    { name: 'a denial', status: withTypes('Denied'), expected: 'decided' },
    { name: 'a denial outweighs an approval', status: withTypes('Approved', 'Denied'), expected: 'decided' },
    { name: 'a failure', status: withTypes('Approved', 'Failed'), expected: 'decided approved failed' },
    {
      name: 'a failure with an empty status',
      status: { conditions: [{ type: 'Failed', status: '' }] },
      expected: 'failed',
    },
    {
      name: 'a failure that is not true',
      status: { conditions: [{ type: 'Failed', status: 'False' }] },
      expected: '',
    },
  ];
  for (const { name, status, expected } of rows) {
    test(name, () => {
      const request = status === undefined ? {} : { status };
      const found = [
        isIssued(request) && 'issued',
        isDecided(request) && 'decided',
        isApproved(request) && 'approved',
        hasFailed(request) && 'failed',
      ];
      expect(found.filter(Boolean).join(' ')).toBe(expected);
    });
  }
});
