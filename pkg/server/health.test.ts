import { describe, expect, test } from 'vitest';
import { describeHealth, HealthChecks } from './health.ts';
import type { CheckResult } from './health.ts';

const well: CheckResult = { name: 'leaderElection', state: 'well' };
const unwell: CheckResult = { name: 'job-controller', state: 'unwell', problem: 'secret reason' };

describe('describeHealth', () => {
  const rows = [
    {
      name: 'lists each check and passes when all are well',
      results: [well],
      excluded: [],
      healthy: true,
      text: '[+]leaderElection ok\nhealthz check passed\n',
    },
    {
      name: 'fails if one check fails, and withholds the reason',
      results: [well, unwell],
      excluded: [],
      healthy: false,
      text: '[+]leaderElection ok\n[-]job-controller failed: reason withheld\nhealthz check failed\n',
    },
    {
      name: 'warns of excluded names that no check has',
      results: [{ name: 'leaderElection', state: 'excluded' } as const],
      excluded: ['nope', 'leaderElection', 'alas'],
      healthy: true,
      text:
        '[+]leaderElection excluded: ok\n' +
        'warn: some health checks cannot be excluded: no matches for "alas","nope"\nhealthz check passed\n',
    },
  ];
  for (const { name, results, excluded, healthy, text } of rows) {
    test(name, () => expect(describeHealth('healthz', results, excluded)).toMatchObject({ healthy, text }));
  }
});

describe('HealthChecks', () => {
  test('answers a ping while there are no checks', () => {
    expect(new HealthChecks().run('livez', []).text).toBe('[+]ping ok\nlivez check passed\n');
  });

  test('does not run an excluded check', () => {
    const checks = new HealthChecks();
    checks.add({ name: 'broken', check: () => 'it is' });
    expect(checks.run('healthz', []).healthy).toBe(false);
    expect(checks.run('healthz', ['broken']).healthy).toBe(true);
  });

  test('calls the observer for every check it runs', () => {
    const seen: unknown[] = [];
    const checks = new HealthChecks((outcome) => seen.push(outcome));
    checks.add({ name: 'good', check: () => undefined }, { name: 'bad', check: () => 'so' });
    checks.run('readyz', []);
    expect(seen).toEqual([
      { name: 'good', path: 'readyz', healthy: true },
      { name: 'bad', path: 'readyz', healthy: false },
    ]);
  });

  test('refuses a second check of the same name', () => {
    const checks = new HealthChecks();
    checks.add({ name: 'a', check: () => undefined });
    expect(() => checks.add({ name: 'a', check: () => undefined })).toThrow('already registered');
  });
});
