import { describe, expect, test } from 'vitest';

import { formatInZone, TimeZones } from './time-zone.ts';

const zones = new TimeZones();

describe('TimeZones', () => {
  const rows = [
    { name: 'Europe/Berlin', known: true },
    { name: 'US/Pacific', known: true },
    { name: 'Etc/GMT+5', known: true },
    { name: 'Mars/Olympus_Mons', known: false },
    { name: '+01:00', known: false },
    { name: '', known: false },
  ];
  for (const { name, known } of rows) {
    test(`${known ? 'finds' : 'does not find'} ${JSON.stringify(name)}`, () => {
      expect(zones.find(name) !== undefined).toBe(known);
    });
  }
});

describe('formatInZone', () => {
  const rows = [
    ['2026-01-01T00:00:00Z', 'UTC', '2026-01-01T00:00:00Z'],
    ['2026-01-01T00:00:00Z', 'Europe/London', '2026-01-01T00:00:00Z'],
    ['2026-07-01T00:00:00Z', 'Europe/London', '2026-07-01T01:00:00+01:00'],
    ['2026-07-01T00:00:00Z', 'America/St_Johns', '2026-06-30T21:30:00-02:30'],
    ['2026-07-01T00:00:00Z', 'Asia/Kathmandu', '2026-07-01T05:45:00+05:45'],
    ['2026-03-29T00:59:59Z', 'Europe/Berlin', '2026-03-29T01:59:59+01:00'],
    ['2026-03-29T01:00:00Z', 'Europe/Berlin', '2026-03-29T03:00:00+02:00'],
  ] as const;
  for (const [time, zoneName, expected] of rows) {
    test(`writes ${time} as ${expected} in ${zoneName}`, () => {
      const zone = zones.find(zoneName);
      expect(zone === undefined ? undefined : formatInZone(Date.parse(time), zone)).toBe(expected);
    });
  }
});
