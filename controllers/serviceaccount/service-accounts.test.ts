import { describe, expect, test } from 'vitest';

import { Namespaces, objectKey, ServiceAccounts } from '../../pkg/api/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createServiceAccountController } from './service-accounts.ts';

const run = (context: TestContext, use: () => Promise<void>): Promise<void> =>
  whileRunning(context, createServiceAccountController(context.context), use);
const accounts = ({ server }: TestContext): string[] =>
  server.stored(ServiceAccounts).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

describe('the service account controller', () => {
  test('creates the default account in every active namespace', async () => {
    const context = createTestContext();
    context.server.seed(Namespaces, { metadata: { name: 'a' }, status: { phase: 'Active' } });
    context.server.seed(Namespaces, { metadata: { name: 'b' }, status: { phase: 'Terminating' } });
    await run(context, async () => expect(accounts(context)).toEqual(['a/default']));
  });

  test('recreates it after a deletion, but no other accounts', async () => {
    const context = createTestContext();
    context.server.seed(Namespaces, { metadata: { name: 'a' }, status: { phase: 'Active' } });
    context.server.seed(ServiceAccounts, { metadata: { namespace: 'a', name: 'robot' } });
    await run(context, async () => {
      for (const name of ['default', 'robot']) {
        await context.server.delete(ServiceAccounts, objectKey('a', name), {}, new AbortController().signal);
      }
      await settle();
      expect(accounts(context)).toEqual(['a/default']);
    });
  });

  test('ignores an account that already exists', async () => {
    const context = createTestContext();
    context.server.seed(Namespaces, { metadata: { name: 'a' }, status: { phase: 'Active' } });
    context.client.before('create', () => {
      throw apiError(409, 'AlreadyExists');
    });
    await run(context, async () => {
      await context.clock.advance(60_000);
      await settle();
      expect(context.client.writes).toHaveLength(1);
    });
  });
});
