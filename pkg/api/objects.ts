// The models alone: the types of the whole package need those of packages that it does not bring.
import type * as models from '@kubernetes/client-node/dist/gen/models/all.js';

import type { Wire } from './wire.ts';

export type ObjectMeta = Wire<models.V1ObjectMeta>;

/** Metadata of an object that the API server has stored: these fields are never missing. */
export type StoredMeta = ObjectMeta & { name: string; uid: string; resourceVersion: string; creationTimestamp: string };

/** The fields that every object has. */
export interface KubeObject {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: StoredMeta;
}

/** PartialObjectMetadata: an object with its metadata only. */
export type MetadataOnly = KubeObject;

/** An object of a kind that the program has no types for. */
export type UntypedObject = KubeObject & { [field: string]: unknown };

type Stored<T, Always extends keyof Wire<T> = never> = Omit<Wire<T>, 'metadata' | Always> & { metadata: StoredMeta } & {
  [K in Always]-?: Exclude<Wire<T>[K], undefined>;
};

/** An object to be created. The server sets the rest of its metadata. */
export type Unsaved<T extends KubeObject> = Omit<T, 'metadata'> & { metadata: ObjectMeta };

export type LabelSelector = Wire<models.V1LabelSelector>;
export type OwnerReference = Wire<models.V1OwnerReference>;
export type ObjectReference = Wire<models.V1ObjectReference>;
export type ListMeta = Wire<models.V1ListMeta>;
export type IntOrString = number | string;

export type Pod = Stored<models.V1Pod, 'spec'>;
export type PodSpec = Wire<models.V1PodSpec>;
export type PodStatus = Wire<models.V1PodStatus>;
export type PodCondition = Wire<models.V1PodCondition>;
export type PodTemplateSpec = Wire<models.V1PodTemplateSpec>;
export type Container = Wire<models.V1Container>;
export type ContainerStatus = Wire<models.V1ContainerStatus>;
export type Node = Stored<models.V1Node, 'spec'>;
export type NodeCondition = Wire<models.V1NodeCondition>;
export type Taint = Wire<models.V1Taint>;
export type Toleration = Wire<models.V1Toleration>;
export type Namespace = Stored<models.V1Namespace>;
export type NamespaceCondition = Wire<models.V1NamespaceCondition>;
export type Service = Stored<models.V1Service, 'spec'>;
export type ServicePort = Wire<models.V1ServicePort>;
export type Endpoints = Stored<models.V1Endpoints>;
export type EndpointSubset = Wire<models.V1EndpointSubset>;
export type EndpointAddress = Wire<models.V1EndpointAddress>;
export type ConfigMap = Stored<models.V1ConfigMap>;
export type Secret = Stored<models.V1Secret>;
export type ServiceAccount = Stored<models.V1ServiceAccount>;
export type ReplicationController = Stored<models.V1ReplicationController, 'spec'>;
export type ResourceQuota = Stored<models.V1ResourceQuota>;
export type PersistentVolume = Stored<models.V1PersistentVolume, 'spec'>;
export type PersistentVolumeClaim = Stored<models.V1PersistentVolumeClaim, 'spec'>;
export type CoreEvent = Stored<models.CoreV1Event>;
export type Binding = Wire<models.V1Binding>;

export type Deployment = Stored<models.V1Deployment, 'spec'>;
export type DeploymentSpec = Wire<models.V1DeploymentSpec>;
export type DeploymentStatus = Wire<models.V1DeploymentStatus>;
export type DeploymentCondition = Wire<models.V1DeploymentCondition>;
export type ReplicaSet = Stored<models.V1ReplicaSet, 'spec'>;
export type ReplicaSetSpec = Wire<models.V1ReplicaSetSpec>;
export type ReplicaSetStatus = Wire<models.V1ReplicaSetStatus>;
export type ReplicaSetCondition = Wire<models.V1ReplicaSetCondition>;
export type DaemonSet = Stored<models.V1DaemonSet, 'spec'>;
export type DaemonSetStatus = Wire<models.V1DaemonSetStatus>;
export type StatefulSet = Stored<models.V1StatefulSet, 'spec'>;
export type ControllerRevision = Stored<models.V1ControllerRevision>;
export type Scale = Wire<models.V1Scale>;

export type Job = Stored<models.V1Job, 'spec'>;
export type JobSpec = Wire<models.V1JobSpec>;
export type JobStatus = Wire<models.V1JobStatus>;
export type JobCondition = Wire<models.V1JobCondition>;
export type CronJob = Stored<models.V1CronJob, 'spec'>;
export type CronJobStatus = Wire<models.V1CronJobStatus>;
export type JobTemplateSpec = Wire<models.V1JobTemplateSpec>;

export type EndpointSlice = Stored<models.V1EndpointSlice>;
export type Endpoint = Wire<models.V1Endpoint>;
export type EndpointPort = Wire<models.DiscoveryV1EndpointPort>;

export type Lease = Stored<models.V1Lease>;
export type LeaseCandidate = Stored<models.V1beta1LeaseCandidate, 'spec'>;
export type LeaseSpec = Wire<models.V1LeaseSpec>;
export type PodDisruptionBudget = Stored<models.V1PodDisruptionBudget>;
export type PodDisruptionBudgetStatus = Wire<models.V1PodDisruptionBudgetStatus>;
export type PodDisruptionBudgetCondition = Wire<models.V1Condition>;
export type CustomResourceDefinition = Stored<models.V1CustomResourceDefinition, 'spec'>;
export type APIService = Stored<models.V1APIService>;
export type ClusterRole = Stored<models.V1ClusterRole>;
export type ClusterRoleBinding = Stored<models.V1ClusterRoleBinding>;
export type Role = Stored<models.V1Role>;
export type RoleBinding = Stored<models.V1RoleBinding>;
export type TokenRequest = Wire<models.AuthenticationV1TokenRequest>;
export type TokenReview = Wire<models.V1TokenReview>;
export type CertificateSigningRequest = Stored<models.V1CertificateSigningRequest, 'spec'>;
export type CertificateSigningRequestCondition = Wire<models.V1CertificateSigningRequestCondition>;
export type ClusterTrustBundle = Stored<models.V1beta1ClusterTrustBundle, 'spec'>;
export type PodCertificateRequest = Stored<models.V1beta1PodCertificateRequest, 'spec'>;
export type Workload = Stored<models.V1alpha2Workload, 'spec'>;
export type PodGroup = Stored<models.V1alpha2PodGroup, 'spec'>;
export type StorageVersion = Stored<models.V1alpha1StorageVersion>;
export type StorageVersionStatus = Wire<models.V1alpha1StorageVersionStatus>;
export type StorageVersionMigration = Stored<models.V1beta1StorageVersionMigration>;
export type StorageVersionMigrationStatus = Wire<models.V1beta1StorageVersionMigrationStatus>;
export type StorageVersionMigrationCondition = Wire<models.V1Condition>;
export type ResourceClaim = Stored<models.ResourceV1ResourceClaim, 'spec'>;
export type ResourceClaimConsumer = Wire<models.V1ResourceClaimConsumerReference>;
export type ResourceClaimSpec = Wire<models.V1ResourceClaimSpec>;
export type ResourceClaimTemplate = Stored<models.V1ResourceClaimTemplate, 'spec'>;
export type AllocatedDevice = Wire<models.V1DeviceRequestAllocationResult>;
export type DeviceTaint = Wire<models.V1DeviceTaint>;
export type DeviceTaintRule = Stored<models.V1beta2DeviceTaintRule, 'spec'>;
export type DeviceTaintRuleSpec = Wire<models.V1beta2DeviceTaintRuleSpec>;
export type ResourceSlice = Stored<models.V1ResourceSlice, 'spec'>;
export type ResourcePoolStatusRequest = Stored<models.V1alpha3ResourcePoolStatusRequest, 'spec'>;
export type ResourcePoolStatus = Wire<models.V1alpha3PoolStatus>;
export type PodResourceClaim = Wire<models.V1PodResourceClaim>;
export type SubjectAccessReview = Wire<models.V1SubjectAccessReview>;
export type Eviction = Wire<models.V1Eviction>;
export type Status = Wire<models.V1Status>;

export type HorizontalPodAutoscaler = Stored<models.V2HorizontalPodAutoscaler, 'spec'>;
export type HorizontalPodAutoscalerStatus = Wire<models.V2HorizontalPodAutoscalerStatus>;
export type HorizontalPodAutoscalerCondition = Wire<models.V2HorizontalPodAutoscalerCondition>;
export type HPAScalingRules = Wire<models.V2HPAScalingRules>;
export type MetricSpec = Wire<models.V2MetricSpec>;
export type MetricStatus = Wire<models.V2MetricStatus>;
export type MetricTarget = Wire<models.V2MetricTarget>;
export type Ingress = Stored<models.V1Ingress>;
export type IPAddress = Stored<models.V1IPAddress>;
export type ServiceCIDR = Stored<models.V1ServiceCIDR>;
export type IngressClass = Stored<models.V1IngressClass>;
export type NetworkPolicy = Stored<models.V1NetworkPolicy>;
export type ValidatingAdmissionPolicy = Stored<models.V1ValidatingAdmissionPolicy>;
export type DeviceClass = Stored<models.V1DeviceClass, 'spec'>;
export type PriorityClass = Stored<models.V1PriorityClass>;
export type StorageClass = Stored<models.V1StorageClass>;
export type VolumeAttributesClass = Stored<models.V1VolumeAttributesClass>;
export type VolumeAttachment = Stored<models.V1VolumeAttachment, 'spec'>;
export type CSIDriver = Stored<models.V1CSIDriver, 'spec'>;
export type CSINode = Stored<models.V1CSINode, 'spec'>;
