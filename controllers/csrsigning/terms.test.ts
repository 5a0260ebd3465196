import { describe, expect, test } from 'vitest';

import { computeTerms, SigningError } from './terms.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const nowMs = Date.UTC(2026, 0, 1);
const limits = { nowMs, maxDurationMs: 365 * day, authorityUntilMs: nowMs + 3650 * day };

describe('the validity', () => {
  const rows = [
    { name: 'is the maximum by default', asked: undefined, max: 365 * day, until: 365 * day - 5 * minute },
    { name: 'is the requested one', asked: day / 1000, max: 365 * day, until: day - 5 * minute },
    {
      name: 'is not longer than the maximum',
      asked: (366 * day) / 1000,
      max: 365 * day,
      until: 365 * day - 5 * minute,
    },
    { name: 'is not shortened when it is short', asked: hour / 1000, max: 365 * day, until: hour },
    { name: 'is short below eight hours', asked: (8 * hour) / 1000 - 1, max: day, until: 8 * hour - 1000 },
    { name: 'is not short from eight hours on', asked: (8 * hour) / 1000, max: day, until: 8 * hour - 5 * minute },
    { name: 'is ten minutes at least', asked: 1, max: 365 * day, until: 10 * minute },
    { name: 'is that of the flag, however short', asked: undefined, max: minute, until: minute },
  ];
  for (const { name, asked, max, until } of rows) {
    test(name, () => {
      const terms = computeTerms({ usages: [], expirationSeconds: asked }, { ...limits, maxDurationMs: max });
      expect(terms.fromMs).toBe(nowMs - 5 * minute);
      expect(terms.untilMs - nowMs).toBe(until);
    });
  }

  test('ends with the authority', () => {
    const ending = { ...limits, authorityUntilMs: nowMs + day };
    expect(computeTerms({ usages: [], expirationSeconds: undefined }, ending).untilMs).toBe(nowMs + day);
  });

  test('cannot begin when the authority has expired', () => {
    const ended = { ...limits, authorityUntilMs: nowMs };
    expect(() => computeTerms({ usages: [], expirationSeconds: undefined }, ended)).toThrow(SigningError);
  });
});

describe('the usages', () => {
  const rows = [
    { name: 'of an empty list are empty', usages: [], keyUsage: 0, extended: [] },
    { name: 'signing is a digital signature', usages: ['signing'], keyUsage: 1, extended: [] },
    { name: 'add up', usages: ['cert sign', 'encipher only', 'decipher only'], keyUsage: 32 + 128 + 256, extended: [] },
    {
      name: 'are sorted, each once',
      usages: ['ocsp signing', 'client auth', 's/mime', 'email protection', 'crl sign', 'any'],
      keyUsage: 64,
      extended: ['2.5.29.37.0', '1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.4', '1.3.6.1.5.5.7.3.9'],
    },
  ];
  for (const { name, usages, keyUsage, extended } of rows) {
    test(name, () => {
      const terms = computeTerms({ usages, expirationSeconds: undefined }, limits);
      expect(terms.keyUsage).toBe(keyUsage);
      expect(terms.extendedKeyUsages).toEqual(extended);
    });
  }

  test('that are unknown are refused', () => {
    const request = { usages: ['client auth', 'constructor'], expirationSeconds: undefined };
    expect(() => computeTerms(request, limits)).toThrow('unrecognized usage values: ["constructor"]');
  });
});
