import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';

import { controllers } from '../../controllers/registry.ts';
import { formatTime } from '../../pkg/api/index.ts';
import { ClientBuilder, loadKubeconfig } from '../../pkg/client/index.ts';
import { startHollowNodes, type HollowNodes } from '../../pkg/hollow/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { kubectl } from '../cluster/index.ts';
import { createAuditLog } from '../support/audit-log.ts';
import { createClusterInfo, createToken, untilSigned } from '../support/bootstrap-tokens.ts';
import {
  createRequest,
  createSigningRequest,
  decide,
  kubeletClient,
  nodeSubject,
  untilFinished,
} from '../support/certificate-requests.ts';
import { fromTemplate, isGone } from '../support/claim-user.ts';
import { accountKubeconfig, deployFile } from '../support/deployment-account.ts';
import { AttachUser } from '../support/attach-user.ts';
import { broken, DeviceTaintUser } from '../support/device-taint-user.ts';
import { eventually } from '../support/eventually.ts';
import {
  certificateApis,
  deviceApis,
  gatesFlag,
  mergeApis,
  migrationApis,
  storageVersionApis,
  workloadApis,
} from '../support/gated-apis.ts';
import { createGrowing, growClaim } from '../support/expand-scenarios.ts';
import { silentLogger } from '../support/loggers.ts';
import { startManager, type Manager } from '../support/manager.ts';
import { startMetricsApis } from '../support/metrics-apis.ts';
import { createPodRequest } from '../support/pod-certificate-requests.ts';
import { defineVersioned, migrate, storeAs, untilMigrated } from '../support/migrations.ts';
import { endServer, recordVersions, startServer, untilRecorded } from '../support/storage-versions.ts';
import { disturbBundle } from '../support/trust-bundles.ts';
import { useCluster } from './use-cluster.ts';

const auditLog = createAuditLog();
const apis = mergeApis(certificateApis, deviceApis, migrationApis, storageVersionApis, workloadApis);
const cluster = useCluster({ ...apis, extraApiServerFlags: auditLog.flags });
const stop = new AbortController();
let clients: ClientBuilder;
let hollow: HollowNodes;
let manager: Manager;

const run = (...args: string[]): Promise<string> => kubectl(cluster(), args);

/** Waits until an account of kube-system has used its role. */
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

/** Unused tokens, for the daily check, which runs at the start: one to mark, one to delete. */
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
  // They must be older than the period after which tokens count as unused.
  await eventually(async () => Date.now() - createdMs > 2000, stop.signal);
}

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'hollow-nodes' });
  const options = { client: clients.clientFor('hollow-nodes'), clock: systemClock, logger: silentLogger };
  hollow = await startHollowNodes({ ...options, nodes: 3, leaseRenewMs: 500, podStopDelayMs: 0 }, stop.signal);
  await run('apply', '-f', deployFile('rbac.yaml'));
  await createLegacyTokens();
  await createOldRequests();
  const kubeconfig = await accountKubeconfig(cluster(), 'kube-controller-manager');
  const { files } = cluster();
  const recycler = join(cluster().directory, 'recycler.yaml');
  writeFileSync(recycler, recyclerPod);
  manager = await startManager(cluster(), [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--client-ca-file=',
    '--requestheader-client-ca-file=',
    `--root-ca-file=${files.ca}`,
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    '--use-service-account-credentials=true',
    '--controllers=*,bootstrapsigner,tokencleaner,selinux-warning-controller',
    gatesFlag(apis),
    `--cluster-signing-cert-file=${files.ca}`,
    `--cluster-signing-key-file=${files.caKey}`,
    '--allocate-node-cidrs=true',
    '--cluster-cidr=10.244.0.0/16',
    `--pv-recycler-pod-template-filepath-hostpath=${recycler}`,
    // Short periods, so that the test does not have to wait.
    '--node-monitor-grace-period=3s',
    '--node-monitor-period=500ms',
    '--horizontal-pod-autoscaler-sync-period=500ms',
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

/** Simulated nodes end it at once. */
const recyclerPod = `
apiVersion: v1
kind: Pod
metadata: { namespace: default, annotations: { hollow-node/finish-after: 0s } }
spec:
  restartPolicy: Never
  containers: [{ name: recycler, image: example }]
  volumes: [{ name: vol }]
`;

/** The account of each controller, and the writes that it has to make below. */
const work: Readonly<Record<string, readonly [account: string, ...actions: string[]]>> = {
  'bootstrap-signer-controller': ['bootstrap-signer', 'update configmaps'],
  'certificatesigningrequest-approving-controller': [
    'certificate-controller',
    'create authorization.k8s.io/subjectaccessreviews',
    'update certificates.k8s.io/certificatesigningrequests/approval',
  ],
  'certificatesigningrequest-cleaner-controller': [
    'certificate-controller',
    'delete certificates.k8s.io/certificatesigningrequests',
  ],
  'certificatesigningrequest-signing-controller': [
    'certificate-controller',
    'update certificates.k8s.io/certificatesigningrequests/status',
  ],
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
  'daemonset-controller': [
    'daemon-set-controller',
    'create apps/controllerrevisions',
    'patch apps/controllerrevisions',
    'create pods',
    'delete pods',
    'update apps/daemonsets/status',
  ],
  'deployment-controller': [
    'deployment-controller',
    'create apps/replicasets',
    'patch apps/replicasets',
    'update apps/deployments/status',
  ],
  'device-taint-eviction-controller': [
    'device-taint-eviction-controller',
    'patch pods/status',
    'delete pods',
    'patch resource.k8s.io/devicetaintrules/status',
  ],
  'disruption-controller': [
    'disruption-controller',
    'update policy/poddisruptionbudgets/status',
    'update pods/status',
    'get batch/jobs/scale',
  ],
  'endpoints-controller': ['endpoint-controller', 'create endpoints', 'update endpoints'],
  'endpointslice-controller': [
    'endpointslice-controller',
    'create discovery.k8s.io/endpointslices',
    'update discovery.k8s.io/endpointslices',
  ],
  'endpointslice-mirroring-controller': ['endpointslicemirroring-controller', 'create discovery.k8s.io/endpointslices'],
  'ephemeral-volume-controller': ['ephemeral-volume-controller', 'create persistentvolumeclaims'],
  'garbage-collector-controller': ['generic-garbage-collector', 'delete pods', 'patch apps/replicasets'],
  'horizontal-pod-autoscaler-controller': [
    'horizontal-pod-autoscaler',
    'get apps/statefulsets/scale',
    'update apps/statefulsets/scale',
    'update autoscaling/horizontalpodautoscalers/status',
    'list metrics.k8s.io/pods',
    'get custom.metrics.k8s.io/services/hits',
    'list external.metrics.k8s.io/queue',
  ],
  'job-controller': [
    'job-controller',
    'create pods',
    'patch pods',
    'update batch/jobs/status',
    'create scheduling.k8s.io/workloads',
    'create scheduling.k8s.io/podgroups',
  ],
  'kube-apiserver-serving-clustertrustbundle-publisher-controller': [
    'kube-apiserver-serving-clustertrustbundle-publisher',
    'create certificates.k8s.io/clustertrustbundles',
    'update certificates.k8s.io/clustertrustbundles',
    'delete certificates.k8s.io/clustertrustbundles',
  ],
  'legacy-serviceaccount-token-cleaner-controller': [
    'legacy-service-account-token-cleaner',
    'patch secrets',
    'delete secrets',
  ],
  'namespace-controller': ['namespace-controller', 'deletecollection pods', 'update namespaces/finalize'],
  'node-ipam-controller': ['node-controller', 'patch nodes'],
  'node-lifecycle-controller': ['node-controller', 'patch nodes', 'patch nodes/status', 'patch pods/status'],
  'persistentvolume-attach-detach-controller': [
    'attachdetach-controller',
    'create storage.k8s.io/volumeattachments',
    'delete storage.k8s.io/volumeattachments',
    'patch nodes/status',
  ],
  'persistentvolume-binder-controller': [
    'persistent-volume-binder',
    'update persistentvolumes',
    'update persistentvolumes/status',
    'update persistentvolumeclaims',
    'update persistentvolumeclaims/status',
    'delete persistentvolumes',
    'create pods',
    'delete pods',
  ],
  'persistentvolume-expander-controller': ['expand-controller', 'patch persistentvolumeclaims/status'],
  'persistentvolume-protection-controller': ['pv-protection-controller', 'update persistentvolumes'],
  'persistentvolumeclaim-protection-controller': ['pvc-protection-controller', 'update persistentvolumeclaims'],
  'pod-garbage-collector-controller': ['pod-garbage-collector', 'delete pods'],
  'podcertificaterequest-cleaner-controller': [
    'podcertificaterequestcleaner',
    'delete certificates.k8s.io/podcertificaterequests',
  ],
  'podgroup-protection-controller': ['podgroup-protection-controller', 'update scheduling.k8s.io/podgroups'],
  'resourcepoolstatusrequest-controller': [
    'resourcepoolstatusrequest-controller',
    'update resource.k8s.io/resourcepoolstatusrequests/status',
  ],
  'resourceclaim-controller': [
    'resource-claim-controller',
    'create resource.k8s.io/resourceclaims',
    'patch pods/status',
    'update resource.k8s.io/resourceclaims/status',
    'update resource.k8s.io/resourceclaims',
    'delete resource.k8s.io/resourceclaims',
  ],
  'replicaset-controller': ['replicaset-controller', 'create pods', 'delete pods', 'update apps/replicasets/status'],
  'replicationcontroller-controller': [
    'replication-controller',
    'create pods',
    'delete pods',
    'update replicationcontrollers/status',
  ],
  'resourcequota-controller': ['resourcequota-controller', 'update resourcequotas/status'],
  'root-ca-certificate-publisher-controller': ['root-ca-cert-publisher', 'create configmaps', 'update configmaps'],
  'selinux-warning-controller': ['selinux-warning-controller'], // it writes only events, which the process sends
  'service-cidr-controller': [
    'service-cidrs-controller',
    'patch networking.k8s.io/servicecidrs',
    'patch networking.k8s.io/servicecidrs/status',
  ],
  'serviceaccount-controller': ['service-account-controller', 'create serviceaccounts'],
  'serviceaccount-token-controller': ['kube-controller-manager', 'update secrets', 'delete secrets'],
  'statefulset-controller': [
    'statefulset-controller',
    'create pods',
    'update pods',
    'delete pods',
    'create persistentvolumeclaims',
    'update persistentvolumeclaims',
    'create apps/controllerrevisions',
    'patch apps/controllerrevisions',
    'delete apps/controllerrevisions',
    'update apps/statefulsets/status',
  ],
  'storage-version-migrator-controller': [
    'storage-version-migrator-controller',
    'update storagemigration.k8s.io/storageversionmigrations/status',
    'patch apiextensions.k8s.io/customresourcedefinitions/status',
    'patch storage.example.com/widgets',
  ],
  'storageversion-garbage-collector-controller': [
    'storage-version-garbage-collector',
    'update internal.apiserver.k8s.io/storageversions/status',
    'delete internal.apiserver.k8s.io/storageversions',
  ],
  'taint-eviction-controller': ['node-controller', 'delete pods'],
  'token-cleaner-controller': ['token-cleaner', 'delete secrets'],
  'ttl-after-finished-controller': ['ttl-after-finished-controller', 'delete batch/jobs'],
  'ttl-controller': ['ttl-controller', 'patch nodes'],
  'validatingadmissionpolicy-status-controller': [
    'validatingadmissionpolicy-status-controller',
    'patch admissionregistration.k8s.io/validatingadmissionpolicies/status',
  ],
  'volumeattributesclass-protection-controller': [
    'volumeattributesclass-protection-controller',
    'update storage.k8s.io/volumeattributesclasses',
  ],
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
const budget = (name: string, labels: string): string => `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: ${name}, namespace: play }
spec: { maxUnavailable: 1, selector: { matchLabels: { ${labels} } } }
---`;
const volume = (name: string, policy: string): string => `
apiVersion: v1
kind: PersistentVolume
metadata: { name: ${name} }
spec:
  accessModes: [ReadWriteOnce]
  capacity: { storage: 1Gi }
  storageClassName: ${name}
  persistentVolumeReclaimPolicy: ${policy}
  hostPath: { path: /tmp/play-${name} }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: ${name}, namespace: play }
spec: { volumeName: ${name}, storageClassName: ${name}, accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
---`;
const workloads = `${budget('web', 'app: web')}${budget('once', 'job-name: once')}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: play }
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments] }]
  validations: [{ expression: object.spec.replicas < 100 }]
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: limits, namespace: play }
spec: { hard: { configmaps: 1k } }
---
apiVersion: networking.k8s.io/v1
kind: ServiceCIDR
metadata: { name: play }
spec: { cidrs: [10.200.0.0/24] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: play }
spec: { replicas: 2, selector: { matchLabels: { app: web } }, template: ${pods('web')} }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent, namespace: play }
spec: { selector: { matchLabels: { app: agent } }, template: ${pods('agent')} }
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
---${volume('deleted', 'Delete')}${volume('recycled', 'Recycle')}
apiVersion: storage.k8s.io/v1
kind: VolumeAttributesClass
metadata: { name: play }
driverName: play.example.com
parameters: { speed: high }
---
apiVersion: v1
kind: Pod
metadata: { name: scratch, namespace: play }
spec:
  containers: [${container}]
  volumes:
    - name: data
      ephemeral:
        volumeClaimTemplate:
          spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
---
apiVersion: v1
kind: Pod
metadata: { name: disk, namespace: play }
spec:
  containers: [${container}]
  volumes: [{ name: data, awsElasticBlockStore: { volumeID: vol-play } }]
---
apiVersion: batch/v1
kind: Job
metadata: { name: once, namespace: play }
spec: { ttlSecondsAfterFinished: 0, completions: 2, template: ${finishingPods} }
---
apiVersion: batch/v1
kind: Job
metadata: { name: gang, namespace: play }
spec: { completionMode: Indexed, completions: 2, parallelism: 2, template: ${finishingPods} }
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

/** In a namespace that is not deleted, so that its set can be updated step by step. */
const stateful = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db, namespace: stateful }
spec:
  replicas: 1
  selector: { matchLabels: { app: db } }
  template: ${pods('db')}
  persistentVolumeClaimRetentionPolicy: { whenDeleted: Delete }
  volumeClaimTemplates:
    - { metadata: { name: data }, spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } } }
`;

async function playStateful(): Promise<void> {
  const status = ['rollout', 'status', '-n', 'stateful', 'statefulset/db'];
  await run('create', 'namespace', 'stateful');
  await eventually(() => run('get', '-n', 'stateful', 'serviceaccount/default'), stop.signal);
  await create(stateful);
  await run(...status);
  await run('set', 'image', '-n', 'stateful', 'statefulset/db', 'app=other');
  await run(...status);
  await run('rollout', 'undo', '-n', 'stateful', 'statefulset/db');
  await run(...status);
  await run('label', '-n', 'stateful', 'pod/db-0', 'statefulset.kubernetes.io/pod-name-');
  const patch = '{"spec":{"revisionHistoryLimit":0}}';
  await run('patch', '-n', 'stateful', 'statefulset/db', '--type=merge', '-p', patch);
}

/** A pod with a device runs, and ends. */
async function playDevices(): Promise<void> {
  await run('create', 'namespace', 'devices');
  await eventually(() => run('get', '-n', 'devices', 'serviceaccount/default'), stop.signal);
  const user = new DeviceTaintUser(clients.clientFor('devices'), 'devices', stop.signal);
  await user.template('plain');
  await user.pod('user', { claims: { own: fromTemplate('plain') }, nodeName: 'elsewhere', finalizers: ['play/keep'] });
  const [own = ''] = await user.recorded('user', 1);
  await user.allocate(own, []);
  await user.until(own, (claim) => claim?.status?.reservedFor?.length === 1);
  await user.setPodStatus('user', { phase: 'Succeeded' });
  await user.until(own, isGone);
  await user.publish({ 'gpu-0': [] });
  await user.deviceUser('evicted', 'gpu-0');
  await user.publish({ 'gpu-0': [broken] });
  await user.untilEvicted('evicted');
  await user.askForPool('devices');
  await user.rule('none', { effect: 'None' });
  await user.untilReason('none', 'NoEffect');
}

const autoscaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: db, namespace: stateful }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: StatefulSet, name: db }
  minReplicas: 2
  maxReplicas: 3
  metrics:
    - { type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } } }
    - { type: External, external: { metric: { name: queue }, target: { type: Value, value: 5 } } }
    - type: Object
      object:
        describedObject: { apiVersion: v1, kind: Service, name: db }
        metric: { name: hits }
        target: { type: Value, value: 5 }
`;

/** Scales the set. Metrics that nobody serves are asked for as well, except custom ones, whose version is not known then. */
async function playAutoscaler(): Promise<void> {
  const client = clients.clientFor('metrics');
  const versions = ['custom.metrics.k8s.io/v1beta2'];
  await using _apis = await startMetricsApis(cluster(), client, { versions }, stop.signal);
  await create(autoscaler);
  const [account, ...actions] = work['horizontal-pod-autoscaler-controller'] ?? [''];
  await done(account, ...actions);
}

/** A node asks for a certificate, and a token signs cluster-info before it expires. */
async function bootstrap(): Promise<void> {
  const client = clients.clientFor('bootstrap');
  const { signal } = stop;
  const request = await createRequest(nodeSubject('new'));
  await createSigningRequest(client, 'new', request, { ...kubeletClient, signal });
  await untilFinished(client, 'new', signal);
  await createClusterInfo(client, 'content', signal);
  await createToken(client, 'aaaaaa', { expiration: new Date(Date.now() + 3000).toISOString() }, signal);
  await untilSigned(client, ['aaaaaa'], signal);
}

/** A request that was denied long ago, and one of a pod, for the check at the start. */
async function createOldRequests(): Promise<void> {
  const client = clients.clientFor('bootstrap');
  const { signal } = stop;
  await createSigningRequest(client, 'old', await createRequest(nodeSubject('old')), { ...kubeletClient, signal });
  await decide(client, 'old', { type: 'Denied', lastUpdateTime: formatTime(Date.now() - 7_200_000) }, signal);
  const user = { client, cluster: cluster(), namespace: 'default' };
  await createPodRequest(user, { name: 'old', minutes: 60 }, signal);
}

/** Objects are stored in another version, and an API server goes. */
async function playStorage(): Promise<void> {
  const user = { client: clients.clientFor('storage'), namespace: 'storage' };
  const { signal } = stop;
  await run('create', 'namespace', user.namespace);
  const widgets = await defineVersioned(user, 'widgets', ['a'], signal);
  await storeAs(user, widgets, 'v2', signal);
  await untilMigrated(user, await migrate(user, 'move', widgets, signal), signal);
  for (const server of ['first', 'second']) await startServer(user, server, signal);
  await recordVersions(user, 'kept', { first: 'v1', second: 'v1' }, signal);
  await recordVersions(user, 'gone', { first: 'v1' }, signal);
  await endServer(user, 'first', signal);
  await untilRecorded(user, 'kept', ['second'], signal);
  await untilRecorded(user, 'gone', [], signal);
}

/** A claim asks for more than its volume has. */
async function expand(): Promise<void> {
  const client = clients.clientFor('user');
  const stage = { user: new AttachUser(client, 'play', stop.signal), client, namespace: 'play', signal: stop.signal };
  await createGrowing(stage, { grown: { awsElasticBlockStore: { volumeID: 'vol-grown' } } });
  await growClaim(stage, 'grown');
  await done('expand-controller', 'patch persistentvolumeclaims/status');
}

/** Creates work of each kind for every controller. */
async function play(): Promise<void> {
  await bootstrap();
  const authority = readFileSync(cluster().files.ca, 'utf8');
  await disturbBundle({ client: clients.clientFor('bundles') }, authority, stop.signal);
  await run('create', 'namespace', 'play');
  const born = ['serviceaccount/default', 'configmap/kube-root-ca.crt'];
  await eventually(() => run('get', '-n', 'play', ...born), stop.signal);
  await run('patch', '-n', 'play', 'configmap/kube-root-ca.crt', '--type=merge', '-p', '{"data":{"ca.crt":"x"}}');
  await playStateful();
  await playStorage();
  await playDevices();
  await playAutoscaler();
  await create(workloads);
  await expand();
  const twoMinutesAgo = new Date(Date.now() - 120_000).toISOString();
  const scheduled = JSON.stringify({ status: { lastScheduleTime: twoMinutesAgo } }); // so that it is due
  await run('patch', '-n', 'play', 'cronjob/often', '--subresource=status', '--type=merge', '-p', scheduled);
  await run('rollout', 'status', '-n', 'play', 'deployment/web');
  await run('set', 'image', '-n', 'play', 'deployment/web', 'app=other');
  await run('rollout', 'status', '-n', 'play', 'deployment/web');
  await run('rollout', 'status', '-n', 'play', 'daemonset/agent');
  await run('set', 'image', '-n', 'play', 'daemonset/agent', 'app=other');
  await run('rollout', 'status', '-n', 'play', 'daemonset/agent');
  await run('rollout', 'undo', '-n', 'play', 'daemonset/agent');
  await run('rollout', 'status', '-n', 'play', 'daemonset/agent');
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
  const target = { type: 'DisruptionTarget', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const targeted = JSON.stringify({ status: { conditions: [target] } });
  const spared = await run('get', 'pods', '-n', 'play', '-l', 'app=old', '-o', 'jsonpath={.items[0].metadata.name}');
  await run('patch', '-n', 'play', `pod/${spared}`, '--subresource=status', '-p', targeted);
  await done('disruption-controller', 'update pods/status');
  const silent = await run(...busy);
  hollow.stopHeartbeats(silent);
  await done('node-controller', 'patch nodes/status', 'patch pods/status');
  hollow.resumeHeartbeats(silent);
  await create(['first', 'second', 'third'].map(finishedPod).join(''));
  await done('pod-garbage-collector', 'delete pods');
  const claims = ['persistentvolumeclaim/deleted', 'persistentvolumeclaim/recycled'];
  await run('wait', '-n', 'play', '--for=jsonpath={.status.phase}=Bound', ...claims);
  await run('delete', '-n', 'play', ...claims);
  await run('wait', '--for=delete', 'persistentvolume/deleted');
  await run('wait', '--for=jsonpath={.status.phase}=Available', 'persistentvolume/recycled');
  await run('delete', 'volumeattributesclass/play');
  await run('delete', 'namespace', 'play');
}

test('the role of every controller is sufficient, and none uses another', async () => {
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

/** For paths like /healthz and /api, and for trust bundles; each may be the one that the server finds first. */
const rolesOfEverybody: ReadonlySet<string> = new Set([
  'system:discovery',
  'system:public-info-viewer',
  'system:cluster-trust-bundle-discovery',
]);

const manifests = z.object({
  items: z.array(
    z.object({
      kind: z.string(),
      metadata: z.object({ name: z.string() }),
      roleRef: z.object({ name: z.string() }).optional(),
    }),
  ),
});

test('the manifests grant no more than that, and metrics to users with the role for them', async () => {
  const { items } = manifests.parse(JSON.parse(await run('get', '-f', deployFile('rbac.yaml'), '-o', 'json')));
  expect(items.map(({ kind, metadata, roleRef }) => `${kind} ${roleRef?.name ?? metadata.name}`)).toEqual([
    'ServiceAccount kube-controller-manager',
    'ClusterRoleBinding system:kube-controller-manager',
    'ClusterRole kube-controller-manager-metrics-reader',
    'ClusterRole kube-controller-manager-loop-viewer',
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
