import { describe, expect, test } from 'vitest';

import {
  objectKey,
  Secrets,
  ServiceAccounts,
  type Secret,
  type ServiceAccount,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createServiceAccountTokenController } from './service-account-tokens.ts';

const signal = new AbortController().signal;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const account = (fields: Partial<ServiceAccount> = {}): Unsaved<ServiceAccount> => ({
  metadata: { namespace: 'team', name: 'robot' },
  ...fields,
});
const token = (annotations: Record<string, string>, fields: Partial<Secret> = {}): Unsaved<Secret> => ({
  metadata: { namespace: 'team', name: 'token', annotations },
  type: 'kubernetes.io/service-account-token',
  ...fields,
});
const forRobot = { 'kubernetes.io/service-account.name': 'robot' };

async function run(test: TestContext, use: () => Promise<void>): Promise<void> {
  const options = { signer: { sign: () => Promise.resolve('signed') }, rootCa: 'CA', workers: 1 };
  await whileRunning(test, createServiceAccountTokenController(test.context, options), use);
}

const calls = ({ client }: TestContext): string[] => client.actions.map(({ verb, resource }) => `${verb} ${resource}`);

describe('the token controller', () => {
  test('fills a Secret with one write', async () => {
    const context = createTestContext();
    context.server.seed(ServiceAccounts, account());
    context.server.seed(Secrets, token(forRobot));
    await run(context, async () => {
      const [filled] = context.server.stored(Secrets);
      expect(filled?.data).toEqual({ 'ca.crt': base64('CA'), namespace: base64('team'), token: base64('signed') });
      expect(calls(context)).toEqual(['update secrets']);
    });
  });

  test('ignores Secrets of other types', async () => {
    const context = createTestContext();
    context.server.seed(Secrets, token(forRobot, { type: 'Opaque' }));
    await run(context, async () => expect(calls(context)).toEqual([]));
  });

  test('fills a Secret that another client changed meanwhile', async () => {
    const context = createTestContext();
    context.server.seed(ServiceAccounts, account());
    const { metadata } = context.server.seed(Secrets, token(forRobot));
    const stop = context.client.before('update', () => {
      stop();
      context.server.seed(Secrets, token(forRobot, { metadata: { ...metadata, labels: { by: 'them' } } }));
    });
    await run(context, async () => {
      await context.clock.advance(1000);
      await settle();
      const [filled] = context.server.stored(Secrets);
      expect(filled?.metadata.labels).toEqual({ by: 'them' });
      expect(filled?.data?.['token']).toBe(base64('signed'));
    });
  });

  test('deletes the token of a missing account once the API server confirms it', async () => {
    const context = createTestContext();
    const { metadata } = context.server.seed(Secrets, token(forRobot));
    await run(context, async () => {
      expect(calls(context)).toEqual(['get serviceaccounts', 'delete secrets']);
      expect(context.client.writes[0]?.body).toEqual({ preconditions: { uid: metadata.uid } });
    });
  });

  test('deletes the token of a recreated account', async () => {
    const context = createTestContext();
    context.server.seed(ServiceAccounts, account());
    context.server.seed(Secrets, token({ ...forRobot, 'kubernetes.io/service-account.uid': 'former' }));
    await run(context, async () => expect(context.server.stored(Secrets)).toEqual([]));
  });

  test('deletes nothing if the account cannot be read', async () => {
    const context = createTestContext();
    context.server.seed(Secrets, token(forRobot));
    context.client.before('get', () => {
      throw apiError(500, 'InternalError');
    });
    await run(context, async () => {
      expect(calls(context)).toEqual(['get serviceaccounts']);
      expect(context.server.stored(Secrets)).toHaveLength(1);
    });
  });

  test('deletes the tokens of a deleted account', async () => {
    const context = createTestContext();
    context.server.seed(ServiceAccounts, account());
    context.server.seed(Secrets, token(forRobot));
    await run(context, async () => {
      await context.server.delete(ServiceAccounts, objectKey('team', 'robot'), {}, signal);
      await settle();
      expect(context.server.stored(Secrets)).toEqual([]);
    });
  });

  test('clears only the reference to a deleted token', async () => {
    const context = createTestContext();
    context.server.seed(ServiceAccounts, account({ secrets: [{ name: 'token' }, { name: 'other' }] }));
    context.server.seed(Secrets, token(forRobot));
    await run(context, async () => {
      await context.server.delete(Secrets, objectKey('team', 'token'), {}, signal);
      await settle();
      expect(context.server.stored(ServiceAccounts)[0]?.secrets).toEqual([{ name: 'other' }]);
    });
  });
});
