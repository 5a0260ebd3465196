import { describe, expect, test } from 'vitest';

import { ClusterTrustBundles, objectKey, type Kind } from '../../pkg/api/index.ts';
import { createTestContext, settle, whileRunning, type TestContext } from '../../test/support/controller-context.ts';
import { apiError } from '../../test/support/recording-client.ts';
import { bundleName, signerName } from './publication.ts';
import { createTrustBundlePublisher } from './trust-bundle-publisher.ts';

const { signal } = new AbortController();
const alpha: Kind = { ...ClusterTrustBundles, version: 'v1alpha1' };
const published = objectKey(undefined, bundleName('CA'));
const spec = (trustBundle: string) => ({ signerName, trustBundle });

async function run(
  test: TestContext,
  use: () => Promise<void>,
  {
    served = [ClusterTrustBundles],
    rootCa = 'CA',
  }: { readonly served?: readonly Kind[]; readonly rootCa?: string } = {},
): Promise<void> {
  const resources = served.map((kind) => ({ kind, verbs: new Set<string>() }));
  const discovery = {
    ...test.context.discovery,
    refresh: async () => undefined,
    all: async () => ({ resources, failures: new Map<string, string>() }),
  };
  await whileRunning(test, createTrustBundlePublisher({ ...test.context, discovery }, rootCa), use);
}

const writes = ({ client }: TestContext): string[] => client.writes.map(({ verb, key }) => `${verb} ${key ?? ''}`);

describe('the publisher', () => {
  test('publishes the certificates, and deletes other bundles of the signer only', async () => {
    const context = createTestContext({ freeze: true });
    context.server.seed(ClusterTrustBundles, { metadata: { name: 'former' }, spec: spec('former') });
    const foreign = { signerName: 'example.com/x', trustBundle: 'x' };
    context.server.seed(ClusterTrustBundles, { metadata: { name: 'foreign' }, spec: foreign });
    await run(context, async () => {
      expect(writes(context)).toEqual([`create ${published}`, 'delete former']);
      const left = context.server.stored(ClusterTrustBundles).map(({ metadata }) => metadata.name);
      expect(left.toSorted()).toEqual(['foreign', published]);
    });
  });

  test('publishes again after a deletion and after a change', async () => {
    const context = createTestContext({ freeze: true });
    await run(context, async () => {
      await context.server.delete(ClusterTrustBundles, published, {}, signal);
      await settle();
      const body = { spec: { trustBundle: 'theirs' } };
      await context.server.patch(ClusterTrustBundles, published, { type: 'merge', body }, signal);
      await settle();
      expect(writes(context)).toEqual([`create ${published}`, `create ${published}`, `update ${published}`]);
      expect(context.server.stored(ClusterTrustBundles).map((bundle) => bundle.spec)).toEqual([spec('CA')]);
    });
  });

  test('tries the other deletions when one fails, and that one again', async () => {
    const context = createTestContext();
    for (const name of ['first', 'second']) {
      context.server.seed(ClusterTrustBundles, { metadata: { name }, spec: spec(name) });
    }
    const stop = context.client.before('delete', () => {
      stop();
      throw apiError(503, 'ServiceUnavailable');
    });
    await run(context, async () => {
      await context.clock.advance(1000);
      await settle();
      expect(writes(context)).toEqual([`create ${published}`, 'delete first', 'delete second', 'delete first']);
      const text = await context.context.metrics.metrics();
      expect(text).toMatch(/^clustertrustbundle_publisher_sync_total\{code="503"\} 1$/m);
      expect(text).toMatch(/^clustertrustbundle_publisher_sync_total\{code="200"\} [1-9]$/m);
      expect(text).toMatch(/^clustertrustbundle_publisher_sync_duration_seconds_count\{code="503"\} 1$/m);
      expect(text).toMatch(/^workqueue_adds_total\{name="ca_cert_publisher_cluster_trust_bundles"\} [1-9]/m);
    });
  });

  test('uses the alpha version where no other is served', async () => {
    const context = createTestContext();
    const asked: unknown[] = [];
    const create = context.client.create.bind(context.client);
    context.client.create = (kind, ...rest) => {
      asked.push(kind.version);
      return create(kind, ...rest);
    };
    await run(context, async () => expect(asked).toEqual(['v1alpha1']), { served: [alpha] });
  });

  const idle = [
    { name: 'ends where bundles are not served', options: { served: [] } },
    { name: 'ends without certificates', options: { rootCa: '' } },
  ];
  for (const { name, options } of idle) {
    test(name, async () => {
      const context = createTestContext();
      await run(context, async () => expect(context.server.actions).toEqual([]), options);
      expect(context.client.writes).toEqual([]);
    });
  }
});
