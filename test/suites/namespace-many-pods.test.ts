import { expect, test } from 'vitest';

import { ConfigMaps, Namespaces, objectKey, Pods } from '../../pkg/api/index.ts';
import { runBounded } from '../../pkg/controller/index.ts';
import { eventually } from '../support/eventually.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { parsePrometheusText } from '../support/prometheus-text.ts';
import { startSlowWebhook } from '../support/slow-webhook.ts';
import { createNamespace, useCluster } from './use-cluster.ts';
import { useNodes } from './use-nodes.ts';

const cluster = useCluster({ extraApiServerFlags: ['--request-timeout=1s'] });
const nodes = useNodes(cluster, { nodes: 0 });

/** The server answers 504, or hangs up if its handler has begun to answer. Either can happen. */
const timedOut: ReadonlySet<string | undefined> = new Set(['504', '<error>']);

/** How often a delete request timed out. */
async function countCutShort(manager: Manager): Promise<number> {
  const { body } = await manager.get('/metrics');
  const requests = parsePrometheusText(String(body)).get('rest_client_requests_total')?.samples ?? [];
  const cutShort = requests.filter(({ labels }) => labels['method'] === 'DELETE' && timedOut.has(labels['code']));
  return cutShort.reduce((sum, { value }) => sum + value, 0);
}

test('more pods than one deletecollection can delete are still deleted before everything else', async ({ signal }) => {
  const { client } = nodes();
  const namespace = await createNamespace(cluster(), 'many');
  const spec = { schedulerName: 'none', containers: [{ name: 'app', image: 'example' }] };
  const pods = Array.from({ length: 250 }, (_, index) => ({ metadata: { namespace, name: `pod-${index}` }, spec }));
  await runBounded(8, pods, async (pod) => {
    await client.create(Pods, pod, signal);
  });
  // The server asks it about one pod after the other: 250 pods take more than the second that a request may last.
  await using webhook = await startSlowWebhook(cluster(), { namespace, operation: 'DELETE', answerMs: 5 });
  await eventually(async () => {
    await cluster().request({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/pods/pod-0?dryRun=All` });
    return webhook.asked > 0;
  }, signal);
  const needed = await client.create(ConfigMaps, { metadata: { namespace, name: 'needed' } }, signal);
  const flags = [
    '--controllers=namespace-controller',
    '--leader-elect=false',
    '--use-service-account-credentials=true',
  ];
  await using manager = await startManager(cluster(), flags);
  await client.delete(Namespaces, objectKey(undefined, namespace), {}, signal);

  const { resourceVersion } = needed.metadata;
  let deletedAt: string | undefined;
  for await (const event of client.watch(ConfigMaps, { namespace, resourceVersion }, signal)) {
    if (event.type !== 'DELETED') continue;
    deletedAt = event.object.metadata.resourceVersion;
    break;
  }
  if (deletedAt === undefined) throw new Error('the watch has ended before the ConfigMap went');
  const then = { resourceVersion: deletedAt, resourceVersionMatch: 'Exact' } as const;
  expect((await client.listAll(Pods, { namespace, ...then }, signal)).items).toEqual([]);
  expect(await countCutShort(manager)).toBeGreaterThan(0);
});
