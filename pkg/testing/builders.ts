import {
  apiVersionOf,
  type Cached,
  type ConfigMap,
  ConfigMaps,
  type Container,
  controllerReference,
  type ControllerRevision,
  ControllerRevisions,
  type CronJob,
  CronJobs,
  type DaemonSet,
  DaemonSets,
  type Deployment,
  Deployments,
  type Endpoints,
  EndpointsKind,
  type EndpointSlice,
  EndpointSlices,
  freezeDeep,
  type Job,
  Jobs,
  type Kind,
  type KubeObject,
  type Lease,
  Leases,
  type Node,
  Nodes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Pod,
  type PodCondition,
  type PodDisruptionBudget,
  PodDisruptionBudgets,
  type PodSpec,
  Pods,
  type PodStatus,
  type ReplicaSet,
  ReplicaSets,
  type ReplicationController,
  ReplicationControllers,
  type Secret,
  Secrets,
  type Service,
  type ServiceAccount,
  ServiceAccounts,
  Services,
  type StatefulSet,
  StatefulSets,
  type StoredMeta,
  type Unsaved,
} from '../api/index.ts';
import type { Drafted } from '../operator/index.ts';
import { ResourceSchemas } from './resource-schemas.ts';

/** The default creation time, at which the fake clock starts. */
export const creationTime = '2026-01-01T00:00:00Z';

/**
 * The fields of an object that a test sets. The others are as the API server would have stored them. The uid is derived
 * from kind, namespace and name, so that the same object built twice has the same uid.
 */
export interface DescribedMetadata {
  readonly name?: string | undefined;
  /** Default: `default`, for namespaced kinds. */
  readonly namespace?: string | undefined;
  readonly labels?: Record<string, string> | undefined;
  readonly annotations?: Record<string, string> | undefined;
  /** Controls the object. */
  readonly owner?: { readonly kind: Kind; readonly object: Cached<KubeObject> } | undefined;
  /** Other metadata, which overrides the fields above. */
  readonly metadata?: Partial<StoredMeta> | undefined;
}

export interface Described<T> extends DescribedMetadata {
  /** Fields of the spec, which override those of the builder. */
  readonly spec?: (T extends { spec: infer S } ? Partial<S> : T extends { spec?: infer S } ? S : never) | undefined;
  readonly status?: (T extends { status?: infer S } ? S : never) | undefined;
}

export function metadata(kind: Kind, described: DescribedMetadata): StoredMeta {
  const name = described.name ?? described.metadata?.name ?? kind.kind.toLowerCase();
  const namespace = kind.namespaced ? (described.namespace ?? 'default') : undefined;
  const { labels, annotations, owner } = described;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    uid: uidOf(kind, namespace, name),
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: creationTime,
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
    ...(owner !== undefined && { ownerReferences: [controllerReference(owner.kind, owner.object)] }),
    ...described.metadata,
  };
}

function uidOf(kind: Kind, namespace: string | undefined, name: string): string {
  return ['uid', kind.kind.toLowerCase(), namespace, name].filter((part) => part !== undefined).join('-');
}

/** What a test gives of an object: of a custom resource, the spec without the fields that have a default. */
type FieldsOf<T extends KubeObject, Draft> = Omit<T, 'apiVersion' | 'kind' | 'metadata' | 'spec'> &
  Omit<Draft, 'apiVersion' | 'kind' | 'metadata' | 'status'>;

/** Any object, with the given metadata and fields. A custom resource gets the defaults of its definition. */
export function build<T extends KubeObject, Draft = Unsaved<T>>(
  kind: Kind<T> & Drafted<Draft>,
  described: DescribedMetadata,
  fields: FieldsOf<T, Draft>,
): T {
  const head = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: metadata(kind, described) };
  const object = new ResourceSchemas().complete(kind, { ...head, ...fields });
  return object as KubeObject as T; // a T is its head and its fields, which the compiler cannot know
}

/** Frozen like an object from a cache: a write to it throws. */
export function frozen<T>(object: T): Cached<T> {
  return freezeDeep(object) as Cached<T>;
}

export function container(fields: Partial<Container> = {}): Container {
  return { name: 'app', image: 'registry.example/app:1', ...fields };
}

function podSpec(spec: Partial<PodSpec> = {}): PodSpec {
  return { containers: [container()], restartPolicy: 'Always', terminationGracePeriodSeconds: 30, ...spec };
}

export function pod(described: Described<Pod> = {}): Pod {
  return build(Pods, described, { spec: podSpec(described.spec), status: described.status ?? { phase: 'Pending' } });
}

/** The status of a running pod, ready by default. */
export function runningStatus(status: PodStatus & { readonly ready?: boolean } = {}): PodStatus {
  const { ready = true, ...rest } = status;
  const value = ready ? 'True' : 'False';
  const condition = (type: string, value = 'True'): PodCondition => {
    return { type, status: value, lastTransitionTime: creationTime };
  };
  return {
    phase: 'Running',
    hostIP: '172.16.0.1',
    podIP: '10.128.0.1',
    podIPs: [{ ip: '10.128.0.1' }],
    startTime: creationTime,
    conditions: [
      condition('Initialized'),
      condition('Ready', value),
      condition('ContainersReady', value),
      condition('PodScheduled'),
    ],
    containerStatuses: [
      {
        name: 'app',
        image: 'registry.example/app:1',
        imageID: 'registry.example/app:1',
        ready,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: creationTime } },
      },
    ],
    ...rest,
  };
}

const appLabels = { app: 'web' };
const podTemplate = { metadata: { labels: appLabels }, spec: podSpec() };

export function replicaSet(described: Described<ReplicaSet> = {}): ReplicaSet {
  const spec = { replicas: 1, selector: { matchLabels: appLabels }, template: podTemplate, ...described.spec };
  return build(ReplicaSets, described, { spec, status: described.status ?? { replicas: 0 } });
}

export function replicationController(described: Described<ReplicationController> = {}): ReplicationController {
  const spec = { replicas: 1, selector: appLabels, template: podTemplate, ...described.spec };
  return build(ReplicationControllers, described, { spec, status: described.status ?? { replicas: 0 } });
}

export function deployment(described: Described<Deployment> = {}): Deployment {
  const spec = {
    replicas: 1,
    selector: { matchLabels: appLabels },
    template: podTemplate,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    ...described.spec,
  };
  return build(Deployments, described, { spec, status: described.status ?? {} });
}

export function disruptionBudget(described: Described<PodDisruptionBudget> = {}): PodDisruptionBudget {
  const spec = { selector: { matchLabels: appLabels }, ...described.spec };
  return build(PodDisruptionBudgets, described, { spec, status: described.status });
}

export function daemonSet(described: Described<DaemonSet> = {}): DaemonSet {
  const spec = {
    selector: { matchLabels: appLabels },
    template: podTemplate,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    revisionHistoryLimit: 10,
    ...described.spec,
  };
  const counts = { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 };
  return build(DaemonSets, described, { spec, status: described.status ?? counts });
}

export function statefulSet(described: Described<StatefulSet> = {}): StatefulSet {
  const spec = {
    replicas: 1,
    serviceName: described.name ?? '',
    selector: { matchLabels: appLabels },
    template: podTemplate,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    revisionHistoryLimit: 10,
    ...described.spec,
  };
  return build(StatefulSets, described, { spec, status: described.status ?? { replicas: 0 } });
}

export function persistentVolumeClaim(described: Described<PersistentVolumeClaim> = {}): PersistentVolumeClaim {
  const spec = { accessModes: ['ReadWriteOnce'], ...described.spec };
  return build(PersistentVolumeClaims, described, { spec, status: described.status ?? { phase: 'Pending' } });
}

export function persistentVolume(described: Described<PersistentVolume> = {}): PersistentVolume {
  const spec = {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    persistentVolumeReclaimPolicy: 'Retain',
    volumeMode: 'Filesystem',
    ...described.spec,
  };
  return build(PersistentVolumes, described, { spec, status: described.status ?? { phase: 'Available' } });
}

export function controllerRevision(
  described: DescribedMetadata = {},
  fields: Partial<Pick<ControllerRevision, 'data' | 'revision'>> = {},
): ControllerRevision {
  return build(ControllerRevisions, described, { revision: 1, ...fields });
}

export function job(described: Described<Job> = {}): Job {
  const name = described.name ?? 'job';
  const uid = uidOf(Jobs, described.namespace ?? 'default', name);
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const spec = {
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
    template: { metadata: { labels }, spec: podSpec({ restartPolicy: 'Never' }) },
    ...described.spec,
  };
  return build(Jobs, { ...described, name }, { spec, status: described.status ?? {} });
}

export function cronJob(described: Described<CronJob> = {}): CronJob {
  const spec = {
    schedule: '* * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
    jobTemplate: { spec: { template: { spec: podSpec({ restartPolicy: 'Never' }) } } },
    ...described.spec,
  };
  return build(CronJobs, described, { spec, status: described.status ?? {} });
}

export function service(described: Described<Service> = {}): Service {
  const spec = {
    type: 'ClusterIP',
    clusterIP: '10.96.0.10',
    clusterIPs: ['10.96.0.10'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    selector: appLabels,
    ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
    sessionAffinity: 'None',
    ...described.spec,
  };
  return build(Services, described, { spec, status: described.status ?? { loadBalancer: {} } });
}

export function endpoints(described: Described<Endpoints> = {}, fields: Pick<Endpoints, 'subsets'> = {}): Endpoints {
  return build(EndpointsKind, described, fields);
}

export function endpointSlice(
  described: Described<EndpointSlice> = {},
  fields: Partial<Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'>> = {},
): EndpointSlice {
  return build(EndpointSlices, described, { addressType: 'IPv4', endpoints: [], ports: [], ...fields });
}

/** A ready node. */
export function node(described: Described<Node> = {}): Node {
  const name = described.name ?? 'node';
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: creationTime };
  return build(
    Nodes,
    { labels: { 'kubernetes.io/hostname': name }, ...described, name },
    {
      spec: { ...described.spec },
      status: described.status ?? {
        addresses: [{ type: 'InternalIP', address: '172.16.0.1' }],
        conditions: [{ ...ready, lastHeartbeatTime: creationTime }],
      },
    },
  );
}

export function lease(described: Described<Lease> = {}): Lease {
  return build(Leases, described, { spec: { ...described.spec } });
}

export function serviceAccount(described: Described<ServiceAccount> = {}): ServiceAccount {
  return build(ServiceAccounts, described, {});
}

export function configMap(described: Described<ConfigMap> = {}, data: Record<string, string> = {}): ConfigMap {
  return build(ConfigMaps, described, { data });
}

export function secret(described: Described<Secret> = {}, fields: Pick<Secret, 'type' | 'data'> = {}): Secret {
  return build(Secrets, described, { type: 'Opaque', ...fields });
}
