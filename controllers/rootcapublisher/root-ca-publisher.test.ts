import { describe, expect, test } from 'vitest';

import {
  ConfigMaps,
  Namespaces,
  objectKey,
  type ConfigMap,
  type Namespace,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { createRootCaPublisher } from './root-ca-publisher.ts';

const signal = new AbortController().signal;
const key = objectKey('team', 'kube-root-ca.crt');
const namespace = (phase: string): Unsaved<Namespace> => ({ metadata: { name: 'team' }, status: { phase } });
const configMap = (name: string): Unsaved<ConfigMap> => ({ metadata: { namespace: 'team', name }, data: {} });

const run = (context: TestContext, use: () => Promise<void>): Promise<void> =>
  whileRunning(context, createRootCaPublisher(context.context, 'CA'), use);
const published = ({ server }: TestContext): unknown =>
  server.stored(ConfigMaps).find(({ metadata }) => metadata.name === 'kube-root-ca.crt')?.data;

describe('the publisher', () => {
  test('publishes to existing and new namespaces', async () => {
    const context = createTestContext();
    context.server.seed(Namespaces, namespace('Active'));
    await run(context, async () => {
      context.server.seed(Namespaces, { metadata: { name: 'late' }, status: { phase: 'Active' } });
      await settle();
      expect(context.client.writes.map((write) => write.key)).toEqual([key, 'late/kube-root-ca.crt']);
    });
  });

  test('publishes again after a deletion and after a change', async () => {
    const context = createTestContext();
    context.server.seed(Namespaces, namespace('Active'));
    await run(context, async () => {
      await context.server.delete(ConfigMaps, key, {}, signal);
      await settle();
      expect(published(context)).toEqual({ 'ca.crt': 'CA' });
      await context.server.patch(ConfigMaps, key, { type: 'merge', body: { data: { 'ca.crt': 'theirs' } } }, signal);
      await settle();
      expect(published(context)).toEqual({ 'ca.crt': 'CA' });
    });
  });

  test('publishes nothing to a terminating namespace', async () => {
    const context = createTestContext();
    context.server.seed(Namespaces, namespace('Terminating'));
    await run(context, async () => expect(context.client.writes).toEqual([]));
  });

  test('caches no other ConfigMap', async () => {
    const context = createTestContext();
    context.server.seed(Namespaces, namespace('Active'));
    context.server.seed(ConfigMaps, configMap('large'));
    await run(context, async () => {
      const asked = context.server.actions.filter(({ resource }) => resource === 'configmaps');
      expect(asked.map(({ body }) => body)).toEqual([
        expect.objectContaining({ fieldSelector: 'metadata.name=kube-root-ca.crt' }),
      ]);
    });
  });

  test('counts every sync by status code', async () => {
    const context = createTestContext();
    context.server.seed(Namespaces, namespace('Active'));
    const stop = context.client.before('create', () => {
      stop();
      throw apiError(503, 'ServiceUnavailable');
    });
    await run(context, async () => {
      await context.clock.advance(1000);
      await settle();
      const text = await context.context.metrics.metrics();
      expect(text).toMatch(/root_ca_cert_publisher_sync_total\{code="503"\} 1/);
      expect(text).toMatch(/root_ca_cert_publisher_sync_total\{code="200"\} [12]/);
    });
  });
});
