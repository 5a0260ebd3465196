import { describe, expect, test } from 'vitest';

import { formatTime, Secrets, type Secret } from '../../pkg/api/index.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { createTokenCleaner } from './token-cleaner.ts';

async function whileCleaning(use: (stage: TestContext) => Promise<void>): Promise<void> {
  const stage = createTestContext();
  await whileRunning(stage, createTokenCleaner(stage.context), () => use(stage));
}

function seed({ server }: TestContext, expiration: string, namespace = 'kube-system'): Secret {
  const metadata = { namespace, name: 'bootstrap-token-abcdef' };
  const data = { expiration: Buffer.from(expiration).toString('base64') };
  return server.seed(Secrets, { metadata, type: 'bootstrap.kubernetes.io/token', data });
}

describe('a bootstrap token', () => {
  test('is deleted when it expires, unless it was created again under its name', async () => {
    await whileCleaning(async (stage) => {
      const { uid } = seed(stage, formatTime(stage.clock.now() + 60_000)).metadata;
      await settle();
      await stage.clock.advance(58_000);
      expect(stage.client.writes).toEqual([]);
      await stage.clock.advance(2000);
      await settle();
      expect(stage.client.writes).toEqual([
        {
          verb: 'delete',
          resource: 'secrets',
          key: 'kube-system/bootstrap-token-abcdef',
          body: { preconditions: { uid } },
        },
      ]);
    });
  });

  test('is retried when the deletion failed', async () => {
    await whileCleaning(async (stage) => {
      const allow = stage.client.before('delete', () => {
        throw apiError(500, 'InternalError');
      });
      seed(stage, 'no time');
      await settle();
      allow();
      await stage.clock.advance(1000);
      await settle();
      expect(stage.server.stored(Secrets)).toEqual([]);
    });
  });

  test('is kept without an expiration, and in other namespaces', async () => {
    await whileCleaning(async (stage) => {
      seed(stage, '');
      seed(stage, 'no time', 'default');
      await settle();
      await stage.clock.advance(10 * 365 * 86_400_000);
      expect(stage.client.writes).toEqual([]);
    });
  });
});
