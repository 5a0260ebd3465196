import type * as objects from './objects.ts';
import type { KubeObject, MetadataOnly } from './objects.ts';

declare const objectType: unique symbol;

/** One kind of object and its resource in the API. `T` is the type of its objects. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The plural in the path, `deployments`. */
  readonly resource: string;
  readonly namespaced: boolean;
  /** Requests ask for metadata only: the server answers reads and writes with PartialObjectMetadata. */
  readonly metadataOnly?: true;
  readonly [objectType]?: T;
}

export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

export function defineKind<T extends KubeObject>(kind: Omit<Kind<T>, typeof objectType>): Kind<T> {
  return kind;
}

/** The same resource as PartialObjectMetadata: for caches that need only metadata, and for writes whose answer is unused. */
export function metadataOf(kind: Kind): Kind<MetadataOnly> {
  return { ...kind, metadataOnly: true };
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** `deployments.apps`, or `pods` for the core group: the form that `kubectl` and the Go binary use. */
export function resourceName(kind: Pick<Kind, 'group' | 'resource'>): string {
  return kind.group === '' ? kind.resource : `${kind.resource}.${kind.group}`;
}

export function splitApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

const namespaced = <T extends KubeObject>(group: string, kind: string, resource: string): Kind<T> =>
  defineKind<T>({ group, version: 'v1', kind, resource, namespaced: true });
const clusterWide = <T extends KubeObject>(group: string, kind: string, resource: string): Kind<T> =>
  defineKind<T>({ group, version: 'v1', kind, resource, namespaced: false });

export const Pods = namespaced<objects.Pod>('', 'Pod', 'pods');
export const Services = namespaced<objects.Service>('', 'Service', 'services');
export const EndpointsKind = namespaced<objects.Endpoints>('', 'Endpoints', 'endpoints');
export const ConfigMaps = namespaced<objects.ConfigMap>('', 'ConfigMap', 'configmaps');
export const Secrets = namespaced<objects.Secret>('', 'Secret', 'secrets');
export const ServiceAccounts = namespaced<objects.ServiceAccount>('', 'ServiceAccount', 'serviceaccounts');
export const ReplicationControllers = namespaced<objects.ReplicationController>(
  '',
  'ReplicationController',
  'replicationcontrollers',
);
export const ResourceQuotas = namespaced<objects.ResourceQuota>('', 'ResourceQuota', 'resourcequotas');
export const PersistentVolumeClaims = namespaced<objects.PersistentVolumeClaim>(
  '',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);
export const PersistentVolumes = clusterWide<objects.PersistentVolume>('', 'PersistentVolume', 'persistentvolumes');
export const StorageClasses = clusterWide<objects.StorageClass>('storage.k8s.io', 'StorageClass', 'storageclasses');
export const VolumeAttributesClasses = clusterWide<objects.VolumeAttributesClass>(
  'storage.k8s.io',
  'VolumeAttributesClass',
  'volumeattributesclasses',
);
export const VolumeAttachments = clusterWide<objects.VolumeAttachment>(
  'storage.k8s.io',
  'VolumeAttachment',
  'volumeattachments',
);
export const CSIDrivers = clusterWide<objects.CSIDriver>('storage.k8s.io', 'CSIDriver', 'csidrivers');
export const CSINodes = clusterWide<objects.CSINode>('storage.k8s.io', 'CSINode', 'csinodes');
export const CoreEvents = namespaced<objects.CoreEvent>('', 'Event', 'events');
export const Nodes = clusterWide<objects.Node>('', 'Node', 'nodes');
export const Namespaces = clusterWide<objects.Namespace>('', 'Namespace', 'namespaces');

export const Deployments = namespaced<objects.Deployment>('apps', 'Deployment', 'deployments');
export const ReplicaSets = namespaced<objects.ReplicaSet>('apps', 'ReplicaSet', 'replicasets');
export const DaemonSets = namespaced<objects.DaemonSet>('apps', 'DaemonSet', 'daemonsets');
export const StatefulSets = namespaced<objects.StatefulSet>('apps', 'StatefulSet', 'statefulsets');
export const ControllerRevisions = namespaced<objects.ControllerRevision>(
  'apps',
  'ControllerRevision',
  'controllerrevisions',
);

export const Jobs = namespaced<objects.Job>('batch', 'Job', 'jobs');
export const CronJobs = namespaced<objects.CronJob>('batch', 'CronJob', 'cronjobs');
export const EndpointSlices = namespaced<objects.EndpointSlice>('discovery.k8s.io', 'EndpointSlice', 'endpointslices');
export const Leases = namespaced<objects.Lease>('coordination.k8s.io', 'Lease', 'leases');
export const LeaseCandidates = defineKind<objects.LeaseCandidate>({
  group: 'coordination.k8s.io',
  version: 'v1beta1',
  kind: 'LeaseCandidate',
  resource: 'leasecandidates',
  namespaced: true,
});
export const ServiceCIDRs = clusterWide<objects.ServiceCIDR>('networking.k8s.io', 'ServiceCIDR', 'servicecidrs');
export const IPAddresses = clusterWide<objects.IPAddress>('networking.k8s.io', 'IPAddress', 'ipaddresses');
export const PodDisruptionBudgets = namespaced<objects.PodDisruptionBudget>(
  'policy',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
export const HorizontalPodAutoscalers = defineKind<objects.HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  resource: 'horizontalpodautoscalers',
  namespaced: true,
});
export const ClusterRoles = clusterWide<objects.ClusterRole>(
  'rbac.authorization.k8s.io',
  'ClusterRole',
  'clusterroles',
);
export const ClusterRoleBindings = clusterWide<objects.ClusterRoleBinding>(
  'rbac.authorization.k8s.io',
  'ClusterRoleBinding',
  'clusterrolebindings',
);
export const Roles = namespaced<objects.Role>('rbac.authorization.k8s.io', 'Role', 'roles');
export const RoleBindings = namespaced<objects.RoleBinding>('rbac.authorization.k8s.io', 'RoleBinding', 'rolebindings');
export const CertificateSigningRequests = clusterWide<objects.CertificateSigningRequest>(
  'certificates.k8s.io',
  'CertificateSigningRequest',
  'certificatesigningrequests',
);
export const ClusterTrustBundles = defineKind<objects.ClusterTrustBundle>({
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  kind: 'ClusterTrustBundle',
  resource: 'clustertrustbundles',
  namespaced: false,
});
export const PodCertificateRequests = defineKind<objects.PodCertificateRequest>({
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  kind: 'PodCertificateRequest',
  resource: 'podcertificaterequests',
  namespaced: true,
});
export const Workloads = defineKind<objects.Workload>({
  group: 'scheduling.k8s.io',
  version: 'v1alpha2',
  kind: 'Workload',
  resource: 'workloads',
  namespaced: true,
});
export const ResourceClaims = namespaced<objects.ResourceClaim>('resource.k8s.io', 'ResourceClaim', 'resourceclaims');
export const ResourceClaimTemplates = namespaced<objects.ResourceClaimTemplate>(
  'resource.k8s.io',
  'ResourceClaimTemplate',
  'resourceclaimtemplates',
);
export const ResourceSlices = clusterWide<objects.ResourceSlice>('resource.k8s.io', 'ResourceSlice', 'resourceslices');
export const DeviceTaintRules = defineKind<objects.DeviceTaintRule>({
  group: 'resource.k8s.io',
  version: 'v1beta2',
  kind: 'DeviceTaintRule',
  resource: 'devicetaintrules',
  namespaced: false,
});
export const ResourcePoolStatusRequests = defineKind<objects.ResourcePoolStatusRequest>({
  group: 'resource.k8s.io',
  version: 'v1alpha3',
  kind: 'ResourcePoolStatusRequest',
  resource: 'resourcepoolstatusrequests',
  namespaced: false,
});
export const PodGroups = defineKind<objects.PodGroup>({
  group: 'scheduling.k8s.io',
  version: 'v1alpha2',
  kind: 'PodGroup',
  resource: 'podgroups',
  namespaced: true,
});
export const StorageVersions = defineKind<objects.StorageVersion>({
  group: 'internal.apiserver.k8s.io',
  version: 'v1alpha1',
  kind: 'StorageVersion',
  resource: 'storageversions',
  namespaced: false,
});
export const StorageVersionMigrations = defineKind<objects.StorageVersionMigration>({
  group: 'storagemigration.k8s.io',
  version: 'v1beta1',
  kind: 'StorageVersionMigration',
  resource: 'storageversionmigrations',
  namespaced: false,
});
export const CustomResourceDefinitions = clusterWide<objects.CustomResourceDefinition>(
  'apiextensions.k8s.io',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);
export const APIServices = clusterWide<objects.APIService>('apiregistration.k8s.io', 'APIService', 'apiservices');
export const DeviceClasses = clusterWide<objects.DeviceClass>('resource.k8s.io', 'DeviceClass', 'deviceclasses');
export const ValidatingAdmissionPolicies = clusterWide<objects.ValidatingAdmissionPolicy>(
  'admissionregistration.k8s.io',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
);
