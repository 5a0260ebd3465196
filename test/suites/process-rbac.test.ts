import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';

import { controllers } from '../../controllers/registry.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { startHollowNodes, type HollowNodes } from '../../pkg/hollow/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { kubectl } from '../cluster/index.ts';
import { createAuditLog } from '../support/audit-log.ts';
import { accountKubeconfig, deployFile } from '../support/deployment-account.ts';
import { eventually } from '../support/eventually.ts';
import { silentLogger } from '../support/loggers.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { useCluster } from './use-cluster.ts';

const auditLog = createAuditLog();
const cluster = useCluster({ extraApiServerFlags: auditLog.flags });
const stop = new AbortController();
let clients: ClientBuilder;
let hollow: HollowNodes;
let manager: Manager;

const run = (...args: string[]): Promise<string> => kubectl(cluster(), args);

/** Waits until an account of kube-system has done what it was given a role for. */
async function done(account: string, ...actions: string[]): Promise<void> {
  const missing = (): string[] => {
    const requests = auditLog.read().filter((request) => request.account === account);
    return actions.filter((action) => !requests.some((request) => request.action === action));
  };
  await expect.poll(missing).toEqual([]);
}

async function create(manifest: string): Promise<void> {
  const path = join(cluster().directory, 'play.yaml');
  writeFileSync(path, manifest);
  await run('create', '-f', path);
}

/** Unused tokens, for the one look a day that is taken at the start: one to be marked, one to be deleted. */
async function createLegacyTokens(): Promise<void> {
  const tracking = 'configmap/kube-apiserver-legacy-service-account-token-tracking';
  await eventually(() => run('get', '-n', 'kube-system', tracking), stop.signal);
  await run('patch', '-n', 'kube-system', tracking, '--type=merge', '-p', '{"data":{"since":"2020-01-01"}}');
  await run('create', 'namespace', 'legacy');
  const secret = (name: string, labels: string): string => `
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: { name: ${name}, namespace: legacy, annotations: { kubernetes.io/service-account.name: robot }, labels: { ${labels} } }
---`;
  await create(`
apiVersion: v1
kind: ServiceAccount
metadata: { name: robot, namespace: legacy }
secrets: [{ name: unused }, { name: invalid }]
---${secret('unused', '')}${secret('invalid', 'kubernetes.io/legacy-token-invalid-since: "2020-01-01"')}`);
  const createdMs = Date.now();
  // They have to be older than what counts as unused.
  await eventually(async () => Date.now() - createdMs > 2000, stop.signal);
}

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'hollow-nodes' });
  const options = { client: clients.clientFor('hollow-nodes'), clock: systemClock, logger: silentLogger };
  hollow = await startHollowNodes({ ...options, nodes: 3, leaseRenewMs: 500, podStopDelayMs: 0 }, stop.signal);
  await run('apply', '-f', deployFile('rbac.yaml'));
  await createLegacyTokens();
  const kubeconfig = await accountKubeconfig(cluster(), 'kube-controller-manager');
  const { files } = cluster();
  manager = await startManager(cluster(), [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--client-ca-file=',
    '--requestheader-client-ca-file=',
    `--root-ca-file=${files.ca}`,
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    '--use-service-account-credentials=true',
    // Sooner than by default, for a play that nobody has to wait for.
    '--node-monitor-grace-period=3s',
    '--node-monitor-period=500ms',
    '--terminated-pod-gc-threshold=1',
    '--legacy-service-account-token-clean-up-period=1s',
  ]);
});
afterAll(async () => {
  await manager.kill();
  stop.abort();
  await hollow.stopped;
  clients.close();
  auditLog.remove();
});

/** The account of each controller, and what it has to write in the play below. */
const work: Readonly<Record<string, readonly [account: string, ...actions: string[]]>> = {
  'clusterrole-aggregation-controller': [
    'clusterrole-aggregation-controller',
    'patch rbac.authorization.k8s.io/clusterroles',
  ],
  'cronjob-controller': [
    'cronjob-controller',
    'create batch/jobs',
    'delete batch/jobs',
    'update batch/cronjobs/status',
  ],
  'deployment-controller': [
    'deployment-controller',
    'create apps/replicasets',
    'patch apps/replicasets',
    'update apps/deployments/status',
  ],
  'endpoints-controller': ['endpoint-controller', 'create endpoints', 'update endpoints'],
  'endpointslice-controller': [
    'endpointslice-controller',
    'create discovery.k8s.io/endpointslices',
    'update discovery.k8s.io/endpointslices',
  ],
  'endpointslice-mirroring-controller': ['endpointslicemirroring-controller', 'create discovery.k8s.io/endpointslices'],
  'garbage-collector-controller': ['generic-garbage-collector', 'delete pods', 'patch apps/replicasets'],
  'job-controller': ['job-controller', 'create pods', 'patch pods', 'update batch/jobs/status'],
  'legacy-serviceaccount-token-cleaner-controller': [
    'legacy-service-account-token-cleaner',
    'patch secrets',
    'delete secrets',
  ],
  'namespace-controller': ['namespace-controller', 'deletecollection pods', 'update namespaces/finalize'],
  'node-lifecycle-controller': ['node-controller', 'patch nodes', 'patch nodes/status', 'patch pods/status'],
  'pod-garbage-collector-controller': ['pod-garbage-collector', 'delete pods'],
  'replicaset-controller': ['replicaset-controller', 'create pods', 'delete pods', 'update apps/replicasets/status'],
  'replicationcontroller-controller': [
    'replication-controller',
    'create pods',
    'delete pods',
    'update replicationcontrollers/status',
  ],
  'root-ca-certificate-publisher-controller': ['root-ca-cert-publisher', 'create configmaps', 'update configmaps'],
  'serviceaccount-controller': ['service-account-controller', 'create serviceaccounts'],
  'serviceaccount-token-controller': ['kube-controller-manager', 'update secrets', 'delete secrets'],
  'taint-eviction-controller': ['node-controller', 'delete pods'],
  'ttl-after-finished-controller': ['ttl-after-finished-controller', 'delete batch/jobs'],
  'ttl-controller': ['ttl-controller', 'patch nodes'],
};

const container = '{ name: app, image: example }';
const pods = (label: string): string =>
  `{ metadata: { labels: { app: ${label} } }, spec: { containers: [${container}] } }`;
const finishing = `metadata: { annotations: { hollow-node/finish-after: 0s } }`;
const finishingPods = `{ ${finishing}, spec: { restartPolicy: Never, containers: [${container}] } }`;
const finishedPod = (name: string): string => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: play, annotations: { hollow-node/finish-after: 0s } }
spec: { restartPolicy: Never, containers: [${container}] }
---`;
const workloads = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: play }
spec: { replicas: 2, selector: { matchLabels: { app: web } }, template: ${pods('web')} }
---
apiVersion: v1
kind: ReplicationController
metadata: { name: old, namespace: play }
spec: { replicas: 2, selector: { app: old }, template: ${pods('old')} }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: play }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
---
apiVersion: v1
kind: Service
metadata: { name: outside, namespace: play }
spec: { ports: [{ port: 80 }] }
---
apiVersion: v1
kind: Endpoints
metadata: { name: outside, namespace: play }
subsets: [{ addresses: [{ ip: 192.0.2.7 }], ports: [{ port: 80 }] }]
---
apiVersion: batch/v1
kind: Job
metadata: { name: once, namespace: play }
spec: { ttlSecondsAfterFinished: 0, completions: 2, template: ${finishingPods} }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: often, namespace: play }
spec: { schedule: '* * * * *', successfulJobsHistoryLimit: 0, jobTemplate: { spec: { template: ${finishingPods} } } }
---
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: { name: orphan, namespace: play, annotations: { kubernetes.io/service-account.name: nobody } }
`;

/** Gives every controller something to do, each kind of thing that it does. */
async function play(): Promise<void> {
  await run('create', 'namespace', 'play');
  const born = ['serviceaccount/default', 'configmap/kube-root-ca.crt'];
  await eventually(() => run('get', '-n', 'play', ...born), stop.signal);
  await run('patch', '-n', 'play', 'configmap/kube-root-ca.crt', '--type=merge', '-p', '{"data":{"ca.crt":"x"}}');
  await create(workloads);
  const twoMinutesAgo = new Date(Date.now() - 120_000).toISOString();
  const scheduled = JSON.stringify({ status: { lastScheduleTime: twoMinutesAgo } }); // so that it is due
  await run('patch', '-n', 'play', 'cronjob/often', '--subresource=status', '--type=merge', '-p', scheduled);
  await run('rollout', 'status', '-n', 'play', 'deployment/web');
  await run('set', 'image', '-n', 'play', 'deployment/web', 'app=other');
  await run('rollout', 'status', '-n', 'play', 'deployment/web');
  await run('scale', '-n', 'play', 'rc/old', '--replicas=1');
  await run('wait', '-n', 'play', '--for=jsonpath={.status.readyReplicas}=1', 'rc/old');
  await run('delete', '-n', 'play', 'deployment/web', '--cascade=orphan');
  await run('delete', '-n', 'play', 'replicasets', '--all', '--cascade=foreground');
  const busy = ['get', 'pods', '-n', 'play', '-l', 'app=old', '-o', 'jsonpath={.items[0].spec.nodeName}'];
  const tainted = await run(...busy);
  await run('taint', 'node', tainted, 'play=over:NoExecute');
  await done('node-controller', 'delete pods');
  await run('taint', 'node', tainted, 'play-');
  await run('wait', '-n', 'play', '--for=jsonpath={.status.readyReplicas}=1', 'rc/old');
  const silent = await run(...busy);
  hollow.stopHeartbeats(silent);
  await done('node-controller', 'patch nodes/status', 'patch pods/status');
  hollow.resumeHeartbeats(silent);
  await create(['first', 'second', 'third'].map(finishedPod).join(''));
  await done('pod-garbage-collector', 'delete pods');
  await run('delete', 'namespace', 'play');
}

test('every controller can do its work by its own role, and none needs another', async () => {
  expect(Object.keys(work).toSorted()).toEqual(controllers.map(({ name }) => name).toSorted());
  await play();
  for (const [account, ...actions] of Object.values(work)) await done(account, ...actions);

  const requests = auditLog.read();
  expect(requests.filter(({ isAllowed }) => !isAllowed)).toEqual([]);
  const byOtherRoles = requests.filter(({ account, role }) => {
    const own =
      account === 'kube-controller-manager' ? 'system:kube-controller-manager' : `system:controller:${account}`;
    return role !== own && !rolesOfEverybody.has(role);
  });
  expect(byOtherRoles).toEqual([]);
});

/** For paths like /healthz and /api; either may be the one that the server finds first. */
const rolesOfEverybody: ReadonlySet<string> = new Set(['system:discovery', 'system:public-info-viewer']);

const manifests = z.object({
  items: z.array(
    z.object({
      kind: z.string(),
      metadata: z.object({ name: z.string() }),
      roleRef: z.object({ name: z.string() }).optional(),
    }),
  ),
});

test('the manifests grant no more than that, and metrics to who is bound to read them', async () => {
  const { items } = manifests.parse(JSON.parse(await run('get', '-f', deployFile('rbac.yaml'), '-o', 'json')));
  expect(items.map(({ kind, metadata, roleRef }) => `${kind} ${roleRef?.name ?? metadata.name}`)).toEqual([
    'ServiceAccount kube-controller-manager',
    'ClusterRoleBinding system:kube-controller-manager',
    'ClusterRole kube-controller-manager-metrics-reader',
  ]);
  const scraper = { user: 'scraper' };
  await run(
    'create',
    'clusterrolebinding',
    'scraper',
    '--clusterrole=kube-controller-manager-metrics-reader',
    '--user=scraper',
  );
  const codes = await Promise.all(
    ['/metrics', '/metrics/slis', '/configz'].map(async (path) => (await manager.get(path, scraper)).status),
  );
  expect(codes).toEqual([200, 200, 403]);
});
