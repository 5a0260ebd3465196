import { describe, expect, test } from 'vitest';

import { compareResourceVersions } from './resource-version.ts';

describe('compareResourceVersions', () => {
  const rows = [
    { older: '1', newer: '2' },
    { older: '9', newer: '10' },
    { older: '99', newer: '100' },
    { older: '', newer: '1' },
    { older: '9007199254740992', newer: '9007199254740993' },
    { older: '99999999999999999999', newer: '100000000000000000000' },
  ];
  for (const { older, newer } of rows) {
    test(`${JSON.stringify(older)} is older than ${newer}`, () => {
      expect(compareResourceVersions(older, newer)).toBeLessThan(0);
      expect(compareResourceVersions(newer, older)).toBeGreaterThan(0);
    });
  }

  for (const version of ['', '0', '7', '9007199254740993']) {
    test(`${JSON.stringify(version)} equals itself`, () => expect(compareResourceVersions(version, version)).toBe(0));
  }
});
