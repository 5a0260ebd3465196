import { describe, expect, test } from 'vitest';

import { formatTime, PodCertificateRequests, type MetadataOnly } from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { isOld } from './age.ts';

const nowMs = Date.UTC(2026, 0, 2);

describe('isOld', () => {
  const rows = [
    { name: 'keeps a request for 15 minutes', creationTimestamp: formatTime(nowMs - 899_000), expected: false },
    { name: 'ends a request after 15 minutes', creationTimestamp: formatTime(nowMs - 900_000), expected: true },
    { name: 'keeps a request of the future', creationTimestamp: formatTime(nowMs + 1000), expected: false },
    { name: 'ends a request without a time', creationTimestamp: null, expected: true },
  ];
  for (const { name, creationTimestamp, expected } of rows) {
    test(name, () => {
      const request = build<MetadataOnly>(PodCertificateRequests, { name: 'a' }, {});
      const metadata = { ...request.metadata, creationTimestamp } as MetadataOnly['metadata'];
      expect(isOld(frozen({ ...request, metadata }), nowMs)).toBe(expected);
    });
  }
});
