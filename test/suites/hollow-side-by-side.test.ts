import { afterAll, beforeAll, expect, test } from 'vitest';
import { CoreEvents, keyOf, Pods, type ReplicaSet, ReplicaSets, type Unsaved } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { type HollowNodes, startHollowNodes } from '../../pkg/hollow/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { compareStates } from '../support/compare-state.ts';
import { watchUntil } from '../support/eventually.ts';
import { silentLogger } from '../support/loggers.ts';
import { runWith, runWithBoth, type Scenario } from '../support/side-by-side.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
const stop = new AbortController();
let clients: ClientBuilder;
let hollow: HollowNodes;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'side-by-side-suite' });
  const client = clients.clientFor('hollow-nodes');
  hollow = await startHollowNodes(
    { client, clock: systemClock, logger: silentLogger, nodes: 3, podStopDelayMs: 0 },
    stop.signal,
  );
});

afterAll(async () => {
  stop.abort();
  await hollow.stopped;
  clients.close();
});

const web = (namespace: string): Unsaved<ReplicaSet> => ({
  metadata: { namespace, name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'example' }] } },
  },
});

const hasReady =
  (wanted: number) =>
  ({ status }: ReplicaSet): boolean =>
    status?.replicas === wanted && status.availableReplicas === wanted;

/** A ReplicaSet that is scaled: the smallest scenario with names, uids, owners, statuses and events. */
const scaledTo = (replicas: number): Scenario => ({
  controllers: ['replicaset-controller'],
  kinds: [ReplicaSets, Pods, CoreEvents],
  async run({ client, namespace }, signal) {
    const { metadata } = await client.create(ReplicaSets, web(namespace), signal);
    await watchUntil(client, ReplicaSets, { namespace }, hasReady(3), signal);
    await client.patch(ReplicaSets, keyOf({ metadata }), { type: 'merge', body: { spec: { replicas } } }, signal);
    await watchUntil(client, ReplicaSets, { namespace }, hasReady(replicas), signal);
  },
});

test('a scenario ends in the same state with both controller managers', async ({ signal }) => {
  expect(await runWithBoth(cluster(), scaledTo(2), {}, signal)).toEqual([]);
});

test('different end states of two scenarios are reported', async ({ signal }) => {
  const two = await runWith('go', cluster(), scaledTo(2), signal);
  const four = await runWith('go', cluster(), scaledTo(4), signal);
  expect(compareStates(two, four)).toEqual(
    expect.arrayContaining(['ReplicaSet web: spec.replicas: a 2, b 4', 'Pod web-{random}: 2 more in b']),
  );
});
