import { describe, expect, test } from 'vitest';

import { createMetricsRegistry } from '../metrics/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { compressName, createAccessMetrics, observeAuthenticator, observeAuthorizer } from './access-metrics.ts';
import type { Authentication } from './authentication.ts';
import type { Decision } from './authorization.ts';

const { signal } = new AbortController();
const user = { name: 'jane', groups: [] };

test.each([
  { name: 'kubelet', expected: 'kubelet' },
  { name: 'system:serviceaccount:kube-system:default', expected: 'system:serviceaccount:kube-system:default' },
  { name: 'jane@example.com', expected: 'email_id' },
  { name: 'system:anonymous', expected: 'other' },
  { name: 'constructor', expected: 'other' },
])('$name is counted as $expected', ({ name, expected }) => expect(compressName(name)).toBe(expected));

describe('the metrics of requests', () => {
  /** The lines of a metric that are not zero, without those of buckets. */
  async function counted(use: (deps: ReturnType<typeof create>) => Promise<unknown>): Promise<string[]> {
    const deps = create();
    await use(deps).catch(() => undefined);
    const lines = (await deps.registry.metrics()).split('\n');
    return lines.filter((line) => /^auth.* [^0]/.test(line) && !line.includes('_bucket')).toSorted();
  }

  function create() {
    const registry = createMetricsRegistry();
    return { registry, clock: new FakeClock(), observer: createAccessMetrics(registry) };
  }

  const identities: readonly { name: string; identity: Authentication; expected: string[] }[] = [
    {
      name: 'a known user',
      identity: { kind: 'known', user },
      expected: ['authenticated_user_requests{username="other"} 1', 'authentication_attempts{result="success"} 1'],
    },
    {
      name: 'wrong credentials',
      identity: { kind: 'rejected', problems: ['wrong'] },
      expected: ['authentication_attempts{result="error"} 1'],
    },
  ];
  test.each(identities)('count $name', async ({ identity, expected }) => {
    const lines = await counted(({ observer, clock }) =>
      observeAuthenticator({ authenticate: async () => identity }, observer, clock).authenticate(
        { headers: {} },
        signal,
      ),
    );
    const result = identity.kind === 'known' ? 'success' : 'error';
    expect(lines).toEqual([...expected, `authentication_duration_seconds_count{result="${result}"} 1`]);
  });

  const decisions: readonly { result: string; decide: () => Promise<Decision> }[] = [
    { result: 'allowed', decide: async () => ({ allowed: true }) },
    { result: 'no-opinion', decide: async () => ({ allowed: false, reason: '' }) },
    { result: 'denied', decide: async () => ({ allowed: false, reason: '', denied: true }) },
    { result: 'error', decide: () => Promise.reject(new Error('no answer')) },
  ];
  test.each(decisions)('count a request that is $result', async ({ result, decide }) => {
    const lines = await counted(({ observer, clock }) =>
      observeAuthorizer({ authorize: decide }, observer, clock).authorize({ user, path: '/', verb: 'get' }, signal),
    );
    expect(lines).toEqual([
      `authorization_attempts_total{result="${result}"} 1`,
      `authorization_duration_seconds_count{result="${result}"} 1`,
    ]);
  });
});
