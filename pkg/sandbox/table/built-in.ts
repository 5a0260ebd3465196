import { ownValue } from '../../api/index.ts';
import type * as api from '../../api/index.ts';
import type { Cached, KubeObject } from '../../api/index.ts';
import { age, type Column } from './column.ts';
import { endpointSliceColumns, endpointsText, eventColumns } from './network-columns.ts';
import * as other from './other-columns.ts';
import { podReady, podRestarts, podStatus } from './pod-columns.ts';
import * as cells from './workload-columns.ts';

type Row<T> = Omit<Column, 'cell'> & { cell(object: Cached<T>, nowMs: number): unknown };

/** Rows reach only the cells of their own kind, so each cell may rely on its type. */
function columnsFor<T extends KubeObject>(...rows: readonly Row<T>[]): readonly Column[] {
  return rows;
}

const wide = 1;
const name: Row<KubeObject> = { name: 'Name', format: 'name', cell: ({ metadata }) => metadata.name };
/** The name of a class, marked if it is the default class. */
const defaultName = (annotation: string): Row<KubeObject> => ({
  ...name,
  cell: ({ metadata }) =>
    `${metadata.name}${ownValue(metadata.annotations, annotation) === 'true' ? ' (default)' : ''}`,
});
const aged: Row<KubeObject> = { name: 'Age', cell: ({ metadata }, nowMs) => age(metadata.creationTimestamp, nowMs) };
const orNone = (value: string | undefined): string => (value === undefined || value === '' ? '<none>' : value);

type Templated = { spec: { template?: api.PodTemplateSpec | undefined } } & KubeObject;
const containers: Row<Templated> = {
  name: 'Containers',
  priority: wide,
  cell: ({ spec }) => cells.containerNames(spec.template),
};
const images: Row<Templated> = {
  name: 'Images',
  priority: wide,
  cell: ({ spec }) => cells.containerImages(spec.template),
};
type Selecting = { spec: { selector?: api.LabelSelector | undefined } } & KubeObject;
const selector: Row<Selecting> = {
  name: 'Selector',
  priority: wide,
  cell: ({ spec }) => cells.selectorText(spec.selector),
};

const replicaSetRows: readonly Row<api.ReplicaSet>[] = [
  { name: 'Desired', type: 'integer', cell: ({ spec }) => spec.replicas ?? 0 },
  { name: 'Current', type: 'integer', cell: ({ status }) => status?.replicas ?? 0 },
  { name: 'Ready', type: 'integer', cell: ({ status }) => status?.readyReplicas ?? 0 },
];

const columns: Readonly<Record<string, readonly Column[]>> = {
  pods: columnsFor<api.Pod>(
    name,
    { name: 'Ready', cell: podReady },
    { name: 'Status', cell: podStatus },
    { name: 'Restarts', cell: podRestarts },
    aged,
    { name: 'IP', priority: wide, cell: ({ status }) => orNone(status?.podIPs?.[0]?.ip ?? status?.podIP) },
    { name: 'Node', priority: wide, cell: ({ spec }) => orNone(spec.nodeName) },
    { name: 'Nominated Node', priority: wide, cell: ({ status }) => orNone(status?.nominatedNodeName) },
    { name: 'Readiness Gates', priority: wide, cell: readinessGates },
  ),
  'deployments.apps': columnsFor<api.Deployment>(
    name,
    { name: 'Ready', cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}` },
    { name: 'Up-to-date', cell: ({ status }) => String(status?.updatedReplicas ?? 0) },
    { name: 'Available', cell: ({ status }) => String(status?.availableReplicas ?? 0) },
    aged,
    containers,
    images,
    selector,
  ),
  'replicasets.apps': columnsFor<api.ReplicaSet>(name, ...replicaSetRows, aged, containers, images, selector),
  replicationcontrollers: columnsFor<api.ReplicationController>(
    name,
    { name: 'Desired', type: 'integer', cell: ({ spec }) => spec.replicas ?? 0 },
    { name: 'Current', type: 'integer', cell: ({ status }) => status?.replicas ?? 0 },
    { name: 'Ready', type: 'integer', cell: ({ status }) => status?.readyReplicas ?? 0 },
    aged,
    containers,
    images,
    { name: 'Selector', priority: wide, cell: ({ spec }) => cells.labelsText(spec.selector) },
  ),
  'daemonsets.apps': columnsFor<api.DaemonSet>(
    name,
    { name: 'Desired', type: 'integer', cell: ({ status }) => status?.desiredNumberScheduled ?? 0 },
    { name: 'Current', type: 'integer', cell: ({ status }) => status?.currentNumberScheduled ?? 0 },
    { name: 'Ready', type: 'integer', cell: ({ status }) => status?.numberReady ?? 0 },
    { name: 'Up-to-date', type: 'integer', cell: ({ status }) => status?.updatedNumberScheduled ?? 0 },
    { name: 'Available', type: 'integer', cell: ({ status }) => status?.numberAvailable ?? 0 },
    { name: 'Node Selector', cell: ({ spec }) => cells.labelsText(spec.template.spec?.nodeSelector) },
    aged,
    containers,
    images,
    selector,
  ),
  'statefulsets.apps': columnsFor<api.StatefulSet>(
    name,
    { name: 'Ready', cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}` },
    aged,
    containers,
    images,
  ),
  'jobs.batch': columnsFor<api.Job>(
    name,
    { name: 'Status', cell: cells.jobStatus },
    { name: 'Completions', cell: cells.jobCompletions },
    { name: 'Duration', cell: cells.jobDuration },
    aged,
    containers,
    images,
    selector,
  ),
  'cronjobs.batch': columnsFor<api.CronJob>(
    name,
    { name: 'Schedule', cell: ({ spec }) => spec.schedule },
    { name: 'Timezone', cell: ({ spec }) => orNone(spec.timeZone) },
    { name: 'Suspend', type: 'boolean', cell: ({ spec }) => (spec.suspend === true ? 'True' : 'False') },
    { name: 'Active', type: 'integer', cell: ({ status }) => status?.active?.length ?? 0 },
    { name: 'Last Schedule', cell: lastSchedule },
    aged,
    { name: 'Containers', priority: wide, cell: ({ spec }) => cells.containerNames(spec.jobTemplate.spec?.template) },
    { name: 'Images', priority: wide, cell: ({ spec }) => cells.containerImages(spec.jobTemplate.spec?.template) },
    { name: 'Selector', priority: wide, cell: ({ spec }) => cells.selectorText(spec.jobTemplate.spec?.selector) },
  ),
  services: columnsFor<api.Service>(
    name,
    { name: 'Type', cell: ({ spec }) => spec.type },
    { name: 'Cluster-IP', cell: ({ spec }) => orNone(spec.clusterIP) },
    { name: 'External-IP', cell: cells.serviceAddress },
    { name: 'Port(s)', cell: cells.servicePorts },
    aged,
    { name: 'Selector', priority: wide, cell: ({ spec }) => cells.labelsText(spec.selector) },
  ),
  endpoints: columnsFor<api.Endpoints>(name, { name: 'Endpoints', cell: endpointsText }, aged),
  'endpointslices.discovery.k8s.io': columnsFor<api.EndpointSlice>(name, ...endpointSliceColumns, aged),
  nodes: columnsFor<api.Node>(
    name,
    { name: 'Status', cell: cells.nodeStatus },
    { name: 'Roles', cell: cells.nodeRoles },
    aged,
    { name: 'Version', cell: ({ status }) => status?.nodeInfo?.kubeletVersion },
    { name: 'Internal-IP', priority: wide, cell: (node) => cells.nodeAddress(node, 'InternalIP') },
    { name: 'External-IP', priority: wide, cell: (node) => cells.nodeAddress(node, 'ExternalIP') },
    { name: 'OS-Image', priority: wide, cell: ({ status }) => orUnknown(status?.nodeInfo?.osImage) },
    { name: 'Kernel-Version', priority: wide, cell: ({ status }) => orUnknown(status?.nodeInfo?.kernelVersion) },
    {
      name: 'Container-Runtime',
      priority: wide,
      cell: ({ status }) => orUnknown(status?.nodeInfo?.containerRuntimeVersion),
    },
  ),
  namespaces: columnsFor<api.Namespace>(name, { name: 'Status', cell: ({ status }) => status?.phase }, aged),
  events: columnsFor<api.CoreEvent>(...eventColumns),
  configmaps: columnsFor<api.ConfigMap>(
    name,
    {
      name: 'Data',
      cell: ({ data, binaryData }) => String(Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length),
    },
    aged,
  ),
  secrets: columnsFor<api.Secret>(
    name,
    { name: 'Type', cell: ({ type }) => type },
    { name: 'Data', cell: ({ data }) => String(Object.keys(data ?? {}).length) },
    aged,
  ),
  serviceaccounts: columnsFor<api.ServiceAccount>(name, aged),
  'certificatesigningrequests.certificates.k8s.io': columnsFor<api.CertificateSigningRequest>(
    name,
    aged,
    ...other.certificateRequestColumns,
  ),
  'leases.coordination.k8s.io': columnsFor<api.Lease>(
    name,
    { name: 'Holder', cell: ({ spec }) => spec?.holderIdentity ?? '' },
    aged,
  ),
  'controllerrevisions.apps': columnsFor<api.ControllerRevision>(
    name,
    { name: 'Controller', cell: controllerText },
    { name: 'Revision', cell: ({ revision }) => String(revision) },
    aged,
  ),
  'poddisruptionbudgets.policy': columnsFor<api.PodDisruptionBudget>(
    name,
    { name: 'Min Available', cell: ({ spec }) => String(spec?.minAvailable ?? 'N/A') },
    { name: 'Max Unavailable', cell: ({ spec }) => String(spec?.maxUnavailable ?? 'N/A') },
    { name: 'Allowed Disruptions', type: 'integer', cell: ({ status }) => status?.disruptionsAllowed ?? 0 },
    aged,
  ),
  'rolebindings.rbac.authorization.k8s.io': columnsFor<api.RoleBinding>(name, { name: 'Role', cell: roleText }, aged),
  'clusterrolebindings.rbac.authorization.k8s.io': columnsFor<api.ClusterRoleBinding>(
    name,
    { name: 'Role', cell: roleText },
    aged,
  ),
  'horizontalpodautoscalers.autoscaling': columnsFor<api.HorizontalPodAutoscaler>(
    name,
    ...other.autoscalerColumns,
    aged,
  ),
  'ingresses.networking.k8s.io': columnsFor<api.Ingress>(name, ...other.ingressColumns, aged),
  'ingressclasses.networking.k8s.io': columnsFor<api.IngressClass>(
    defaultName('ingressclass.kubernetes.io/is-default-class'),
    ...other.ingressClassColumns,
    aged,
  ),
  'networkpolicies.networking.k8s.io': columnsFor<api.NetworkPolicy>(name, ...other.networkPolicyColumns, aged),
  'storageclasses.storage.k8s.io': columnsFor<api.StorageClass>(
    defaultName('storageclass.kubernetes.io/is-default-class'),
    ...other.storageClassColumns,
    aged,
  ),
  'volumeattributesclasses.storage.k8s.io': columnsFor<api.VolumeAttributesClass>(
    name,
    { name: 'DriverName', cell: ({ driverName }) => driverName },
    aged,
  ),
  'volumeattachments.storage.k8s.io': columnsFor<api.VolumeAttachment>(name, ...other.attachmentColumns, aged),
  'csidrivers.storage.k8s.io': columnsFor<api.CSIDriver>(name, ...other.csiDriverColumns, aged),
  'csinodes.storage.k8s.io': columnsFor<api.CSINode>(
    name,
    { name: 'Drivers', type: 'integer', cell: ({ spec }) => spec.drivers?.length ?? 0 },
    aged,
  ),
  'priorityclasses.scheduling.k8s.io': columnsFor<api.PriorityClass>(name, ...other.priorityClassColumns, aged, {
    name: 'PreemptionPolicy',
    cell: ({ preemptionPolicy }) => preemptionPolicy ?? '',
  }),
  resourcequotas: columnsFor<api.ResourceQuota>(name, ...other.quotaColumns, aged),
  'deviceclasses.resource.k8s.io': columnsFor(name, aged),
  'resourceclaims.resource.k8s.io': columnsFor<api.ResourceClaim>(name, ...other.resourceClaimColumns, aged),
  'resourceclaimtemplates.resource.k8s.io': columnsFor(name, aged),
  'resourceslices.resource.k8s.io': columnsFor<api.ResourceSlice>(name, ...other.resourceSliceColumns, aged),
  persistentvolumes: columnsFor<api.PersistentVolume>(
    name,
    { name: 'Capacity', cell: ({ spec }) => spec.capacity?.['storage'] ?? '0' },
    { name: 'Access Modes', cell: ({ spec }) => accessModes(spec.accessModes) },
    ...other.volumeColumns,
    aged,
    { name: 'VolumeMode', priority: wide, cell: ({ spec }) => spec.volumeMode ?? '<unset>' },
  ),
  persistentvolumeclaims: columnsFor<api.PersistentVolumeClaim>(
    name,
    { name: 'Status', cell: ({ status, metadata }) => (metadata.deletionTimestamp ? 'Terminating' : status?.phase) },
    { name: 'Volume', cell: ({ spec }) => spec.volumeName ?? '' },
    { name: 'Capacity', cell: ({ status }) => status?.capacity?.['storage'] ?? '' },
    { name: 'Access Modes', cell: ({ status }) => accessModes(status?.accessModes) },
    { name: 'StorageClass', cell: ({ spec }) => spec.storageClassName ?? '' },
    { name: 'VolumeAttributesClass', cell: ({ spec }) => spec.volumeAttributesClassName ?? '<unset>' },
    aged,
    { name: 'VolumeMode', priority: wide, cell: ({ spec }) => spec.volumeMode ?? '<unset>' },
  ),
};

const orUnknown = (value: string | undefined): string => (value === undefined || value === '' ? '<unknown>' : value);

/** The columns of a built-in kind; undefined if it has no columns of its own. */
export function builtInColumns(storage: string): readonly Column[] | undefined {
  return ownValue(columns, storage);
}

function readinessGates({ spec, status }: Cached<api.Pod>): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const met = gates.filter(({ conditionType }) =>
    (status?.conditions ?? []).some(({ type, status: value }) => type === conditionType && value === 'True'),
  );
  return `${met.length}/${gates.length}`;
}

function lastSchedule({ status }: Cached<api.CronJob>, nowMs: number): string {
  const last = status?.lastScheduleTime ?? undefined;
  return last === undefined ? '<none>' : age(last, nowMs);
}

function controllerText({ metadata }: Cached<api.ControllerRevision>): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return '<none>';
  const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

function roleText({ roleRef }: Cached<api.RoleBinding>): string {
  return `${roleRef.kind}/${roleRef.name}`;
}

function accessModes(modes: readonly string[] = []): string {
  const short: Readonly<Record<string, string>> = {
    ReadWriteOnce: 'RWO',
    ReadOnlyMany: 'ROX',
    ReadWriteMany: 'RWX',
    ReadWriteOncePod: 'RWOP',
  };
  return modes.map((mode) => ownValue(short, mode) ?? mode).join(',');
}
