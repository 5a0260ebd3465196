import { describe, expect, test } from 'vitest';

import { ConfigMaps, Pods, Secrets, ServiceAccounts, type Secret } from '../../pkg/api/index.ts';
import { container } from '../../test/support/builders.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createLegacyTokenCleaner } from './legacy-token-cleaner.ts';

const dayMs = 24 * 3600 * 1000;
const tracking = 'kube-apiserver-legacy-service-account-token-tracking';

/** A server that has recorded uses since 2020, and an account with these secrets referred to. */
function setUp(references: readonly string[], since = '2020-01-01'): TestContext {
  const context = createTestContext();
  context.server.seed(ConfigMaps, { metadata: { namespace: 'kube-system', name: tracking }, data: { since } });
  context.server.seed(ServiceAccounts, {
    metadata: { namespace: 'team', name: 'robot' },
    secrets: references.map((name) => ({ name })),
  });
  return context;
}

function seedToken({ server }: TestContext, name: string, labels: Record<string, string> = {}): Secret {
  const annotations = { 'kubernetes.io/service-account.name': 'robot' };
  const metadata = { namespace: 'team', name, labels, annotations, creationTimestamp: '2025-06-01T00:00:00Z' };
  return server.seed(Secrets, { metadata, type: 'kubernetes.io/service-account-token' });
}

const run = (context: TestContext, use: () => Promise<void>): Promise<void> =>
  whileRunning(context, createLegacyTokenCleaner(context.context, 30 * dayMs), use);

describe('the cleaner', () => {
  const invalid = { 'kubernetes.io/legacy-token-invalid-since': '2025-11-01' };

  test('invalidates an unused token', async () => {
    const context = setUp(['token']);
    seedToken(context, 'token');
    await run(context, async () => {
      const labels = { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' };
      expect(context.server.stored(Secrets)[0]?.metadata.labels).toEqual(labels);
    });
  });

  test('deletes a token that was invalidated long ago and has not changed', async () => {
    const context = setUp(['token']);
    const { uid, resourceVersion } = seedToken(context, 'token', invalid).metadata;
    await run(context, async () => {
      expect(context.client.writes).toEqual([
        { verb: 'delete', resource: 'secrets', key: 'team/token', body: { preconditions: { uid, resourceVersion } } },
      ]);
    });
  });

  const spared = [
    { name: 'that was not auto-generated', references: [] },
    { name: 'that a pod mounts', references: ['token'], mounted: true },
    { name: 'while uses have not been tracked for long enough', references: ['token'], since: '2025-12-02' },
    { name: 'while the start of tracking is unknown', references: ['token'], since: '' },
  ];
  for (const { name, references, mounted, since } of spared) {
    test(`keeps a token ${name}`, async () => {
      const context = setUp(references, since);
      seedToken(context, 'token', invalid);
      if (mounted === true) {
        const volumes = [{ name: 'v', secret: { secretName: 'token' } }];
        context.server.seed(Pods, {
          metadata: { namespace: 'team', name: 'p' },
          spec: { containers: [container()], volumes },
        });
      }
      await run(context, async () => expect(context.client.writes).toEqual([]));
    });
  }

  test('continues after an error, and checks again a day later', async () => {
    const context = setUp(['a', 'b']);
    seedToken(context, 'a', invalid);
    seedToken(context, 'b', invalid);
    const stop = context.client.before('delete', () => {
      stop();
      throw apiError(500, 'InternalError');
    });
    await run(context, async () => {
      expect(context.server.stored(Secrets)).toHaveLength(1);
      await context.clock.advance(dayMs);
      await settle();
      expect(context.server.stored(Secrets)).toEqual([]);
    });
  });
});
