import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  ConfigMaps,
  CronJobs,
  DaemonSets,
  Deployments,
  EndpointsKind,
  HorizontalPodAutoscalers,
  Jobs,
  Leases,
  Namespaces,
  Nodes,
  objectKey,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  Secrets,
  ServiceAccounts,
  Services,
  StatefulSets,
  type Kind,
  type KubeObject,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { ClientBuilder, isNotFound, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { startHollowNodes, type HollowNodes } from '../../pkg/hollow/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { eventually, watchUntil } from '../support/eventually.ts';
import { silentLogger } from '../support/loggers.ts';
import {
  entriesIn,
  markedIn,
  startMeasuredManager,
  type MeasuredManager,
  type SizeReport,
} from '../support/size-report.ts';
import { useCluster } from './use-cluster.ts';

const getCluster = useCluster();
/** Part of the name of every object that is created and deleted. */
const marker = 'churned';
/** How long objects are created and deleted. An hour is 3600. */
const churnMs = Number(process.env['CHURN_SECONDS'] ?? 20) * 1000;
/** Namespaces that exist at the same time: most of the time is the wait for their deletion. */
const atOnce = 6;
const stop = new AbortController();
let clients: ClientBuilder;
let client: Client;
let hollow: HollowNodes;
let measured: MeasuredManager;

beforeAll(async () => {
  const cluster = getCluster();
  const connection = await loadKubeconfig({ path: cluster.kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'churn' });
  client = clients.clientFor('test');
  const options = { client: clients.clientFor('hollow-nodes'), clock: systemClock, logger: silentLogger };
  hollow = await startHollowNodes({ ...options, nodes: 2, podStopDelayMs: 0 }, stop.signal);
  const { serviceAccountKey, ca } = cluster.files;
  measured = await startMeasuredManager(
    cluster,
    [
      '--use-service-account-credentials',
      `--service-account-private-key-file=${serviceAccountKey}`,
      `--root-ca-file=${ca}`,
      '--node-monitor-period=500ms',
      '--horizontal-pod-autoscaler-sync-period=500ms',
    ],
    marker,
  );
});

afterAll(async () => {
  await measured.manager.kill();
  stop.abort();
  await hollow.stopped;
  clients.close();
});

const template = (app: string, more: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image: 'none' }], ...more },
});

/** One object of each kind that controllers handle, in its own namespace and for its own node. */
async function createObjects(namespace: string, signal: AbortSignal): Promise<void> {
  const create = async <T extends KubeObject>(kind: Kind<T>, name: string, rest: object): Promise<T> => {
    const object = { metadata: { namespace, name: `${marker}-${name}` }, ...rest };
    return client.create(kind, object as unknown as Unsaved<T>, signal);
  };
  const selector = { matchLabels: { app: 'web' } };
  await create(Services, 'web', { spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } });
  await create(PodDisruptionBudgets, 'web', { spec: { selector, maxUnavailable: 1 } });
  const deployment = await create(Deployments, 'web', { spec: { replicas: 3, selector, template: template('web') } });
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: deployment.metadata.name };
  await create(HorizontalPodAutoscalers, 'web', { spec: { scaleTargetRef, maxReplicas: 3 } });
  await create(ReplicaSets, 'set', {
    spec: { replicas: 2, selector: { matchLabels: { app: 'set' } }, template: template('set') },
  });
  await create(ReplicationControllers, 'rc', {
    spec: { replicas: 1, selector: { app: 'rc' }, template: template('rc') },
  });
  await create(StatefulSets, 'db', {
    spec: { serviceName: 'db', replicas: 2, selector: { matchLabels: { app: 'db' } }, template: template('db') },
  });
  await create(DaemonSets, 'agent', {
    spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent') },
  });
  const jobTemplate = template('job', { restartPolicy: 'Never' });
  await create(Jobs, 'job', {
    spec: { completions: 2, parallelism: 2, completionMode: 'Indexed', template: jobTemplate },
  });
  await create(CronJobs, 'cron', { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } } } });
  const volumes = [{ name: 'data', awsElasticBlockStore: { volumeID: namespace } }];
  await create(Pods, 'disk', { spec: template('disk', { volumes }).spec });
  await create(Services, 'manual', { spec: { ports: [{ port: 80 }] } });
  await create(EndpointsKind, 'manual', { subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 80 }] }] });
  const account = await create(ServiceAccounts, 'robot', {});
  const annotations = { 'kubernetes.io/service-account.name': account.metadata.name };
  const metadata = { namespace, name: `${marker}-token`, annotations };
  await client.create(Secrets, { metadata, type: 'kubernetes.io/service-account-token' }, signal);
  const { uid, name } = deployment.metadata;
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid }];
  await client.create(ConfigMaps, { metadata: { namespace, name: `${marker}-owned`, ownerReferences } }, signal);
}

/** Creates and deletes a namespace with its objects, and a node. */
async function liveOnce(index: number, signal: AbortSignal): Promise<void> {
  const namespace = `${marker}-${String(index)}`;
  await client.create(Namespaces, { metadata: { name: namespace } }, signal);
  await client.create(Nodes, { metadata: { name: namespace }, spec: {} }, signal);
  await client.create(Leases, { metadata: { namespace: 'kube-node-lease', name: namespace }, spec: {} }, signal);
  await eventually(() => client.get(ServiceAccounts, objectKey(namespace, 'default'), signal), signal);
  await createObjects(namespace, signal);
  const isRunning = (): boolean => true;
  await watchUntil(client, Pods, { namespace, labelSelector: 'app=web', count: 3 }, isRunning, signal);
  const web = objectKey(namespace, `${marker}-web`);
  const image = { spec: { replicas: 2, template: template('web', { containers: [{ name: 'main', image: 'new' }] }) } };
  await client.patch(Deployments, web, { type: 'strategic', body: image }, signal);
  await client.delete(ReplicaSets, objectKey(namespace, `${marker}-set`), { propagationPolicy: 'Orphan' }, signal);
  await client.delete(Deployments, web, { propagationPolicy: 'Background' }, signal);
  await client.delete(Services, web, {}, signal);
  await client.delete(Nodes, objectKey(undefined, namespace), {}, signal);
  await client.delete(Leases, objectKey('kube-node-lease', namespace), {}, signal);
  await client.delete(Namespaces, objectKey(undefined, namespace), {}, signal);
  await eventually(async () => {
    try {
      await client.get(Namespaces, objectKey(undefined, namespace), signal);
      return false;
    } catch (error) {
      return isNotFound(error);
    }
  }, signal);
}

/** Repeats this, several at a time, until the time is over. Returns the number of namespaces. */
async function churn(ms: number, signal: AbortSignal): Promise<number> {
  const endMs = performance.now() + ms;
  const before = lives;
  const runLane = async (): Promise<void> => {
    do {
      lives += 1;
      await liveOnce(lives, signal);
    } while (performance.now() < endMs);
  };
  await Promise.all(Array.from({ length: atOnce }, runLane));
  return lives - before;
}
let lives = 0;

test('deleted objects leave nothing behind in the manager', async ({ signal }) => {
  await churn(0, signal); // warm-up: code is loaded and compiled, and connections are opened
  const nothingMarked = async (): Promise<SizeReport> => {
    const report = await measured.measure(signal);
    expect(markedIn(report)).toEqual([]);
    return report;
  };
  await eventually(nothingMarked, signal);
  const before = await eventually(nothingMarked, signal); // the first report loads code that later ones use
  const count = await churn(churnMs, signal);
  // Idle connections take a minute to close.
  const after = await eventually(async () => {
    const report = await nothingMarked();
    // A client that is used for the first time adds one entry, and a loop that works has no timer for a moment. A leak
    // adds one per namespace.
    expect(entriesIn(report) - entriesIn(before)).toBeLessThan(count);
    for (const [kind, now] of Object.entries(report.resources)) {
      expect(now - (before.resources[kind] ?? 0), kind).toBeLessThan(count);
    }
    return report;
  }, signal);
  expect(after.heapBytes).toBeLessThan(1.5 * before.heapBytes);
});
