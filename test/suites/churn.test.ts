import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  ConfigMaps,
  CronJobs,
  Deployments,
  EndpointsKind,
  Jobs,
  Leases,
  Namespaces,
  Nodes,
  objectKey,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  Secrets,
  ServiceAccounts,
  Services,
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
/** In the name of every object that comes and goes. */
const marker = 'churned';
/** How long objects come and go. An hour is 3600. */
const churnMs = Number(process.env['CHURN_SECONDS'] ?? 20) * 1000;
/** Namespaces that live at the same time: most of a life is the wait for the namespace to be gone. */
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

/** One object of each kind that controllers handle, in a namespace and for a node of their own. */
async function createObjects(namespace: string, signal: AbortSignal): Promise<void> {
  const create = async <T extends KubeObject>(kind: Kind<T>, name: string, rest: object): Promise<T> => {
    const object = { metadata: { namespace, name: `${marker}-${name}` }, ...rest };
    return client.create(kind, object as unknown as Unsaved<T>, signal);
  };
  const selector = { matchLabels: { app: 'web' } };
  await create(Services, 'web', { spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } });
  const deployment = await create(Deployments, 'web', { spec: { replicas: 3, selector, template: template('web') } });
  await create(ReplicaSets, 'set', {
    spec: { replicas: 2, selector: { matchLabels: { app: 'set' } }, template: template('set') },
  });
  await create(ReplicationControllers, 'rc', {
    spec: { replicas: 1, selector: { app: 'rc' }, template: template('rc') },
  });
  const jobTemplate = template('job', { restartPolicy: 'Never' });
  await create(Jobs, 'job', {
    spec: { completions: 2, parallelism: 2, completionMode: 'Indexed', template: jobTemplate },
  });
  await create(CronJobs, 'cron', { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } } } });
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

/** The life of a namespace with all that is in it, and of a node beside it. */
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

/** Lives follow each other, several at a time, until the time is over; gives how many there were. */
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

test('objects that come and go leave nothing behind in the manager', async ({ signal }) => {
  await churn(0, signal); // what is loaded, compiled and connected once
  const nothingMarked = async (): Promise<SizeReport> => {
    const report = await measured.measure(signal);
    expect(markedIn(report)).toEqual([]);
    return report;
  };
  await eventually(nothingMarked, signal);
  const before = await eventually(nothingMarked, signal); // the first report loads what later ones use
  const count = await churn(churnMs, signal);
  // Connections that are idle take a minute to close.
  const after = await eventually(async () => {
    const report = await nothingMarked();
    // A client that is used for the first time is one entry more; a leak is one for every life.
    expect(entriesIn(report) - entriesIn(before)).toBeLessThan(count);
    for (const [kind, count] of Object.entries(report.resources)) {
      expect(count, kind).toBeLessThanOrEqual(before.resources[kind] ?? 0);
    }
    return report;
  }, signal);
  expect(after.heapBytes).toBeLessThan(1.5 * before.heapBytes);
});
