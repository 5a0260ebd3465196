import { flag } from './flag.ts';

/** Flags of the controllers that run workloads and publish their endpoints. */
export const deploymentFlags = {
  'concurrent-deployment-syncs': flag(
    'int32',
    '5',
    'DeploymentController.ConcurrentDeploymentSyncs',
    'Deployments that may sync at once',
  ),
};

export const statefulSetFlags = {
  'concurrent-statefulset-syncs': flag(
    'int32',
    '5',
    'StatefulSetController.ConcurrentStatefulSetSyncs',
    'StatefulSets that may sync at once',
  ),
};

export const daemonSetFlags = {
  'concurrent-daemonset-syncs': flag(
    'int32',
    '2',
    'DaemonSetController.ConcurrentDaemonSetSyncs',
    'DaemonSets that may sync at once',
  ),
};

export const endpointsFlags = {
  'concurrent-endpoint-syncs': flag(
    'int32',
    '5',
    'EndpointController.ConcurrentEndpointSyncs',
    'Services that may sync at once',
  ),
  'endpoint-updates-batch-period': flag(
    'duration',
    '',
    'EndpointController.EndpointUpdatesBatchPeriod',
    'Pod changes wait this long, to be written together',
  ),
};

export const endpointSliceFlags = {
  'concurrent-service-endpoint-syncs': flag(
    'int32',
    '5',
    'EndpointSliceController.ConcurrentServiceEndpointSyncs',
    'Services that may sync at once',
  ),
  'endpointslice-updates-batch-period': flag(
    'duration',
    '',
    'EndpointSliceController.EndpointUpdatesBatchPeriod',
    'Pod changes wait this long, to be written together',
  ),
  'max-endpoints-per-slice': flag(
    'int32',
    '100',
    'EndpointSliceController.MaxEndpointsPerSlice',
    'Most endpoints in one EndpointSlice',
  ),
};

export const endpointSliceMirroringFlags = {
  'mirroring-concurrent-service-endpoint-syncs': flag(
    'int32',
    '5',
    'EndpointSliceMirroringController.MirroringConcurrentServiceEndpointSyncs',
    'Endpoints that may sync at once',
  ),
  'mirroring-endpointslice-updates-batch-period': flag(
    'duration',
    '',
    'EndpointSliceMirroringController.MirroringEndpointUpdatesBatchPeriod',
    'Changes of Endpoints wait this long, to be written together',
  ),
  'mirroring-max-endpoints-per-subset': flag(
    'int32',
    '1000',
    'EndpointSliceMirroringController.MirroringMaxEndpointsPerSubset',
    'Most endpoints mirrored of one subset',
  ),
};

export const horizontalPodAutoscalerFlags = {
  'concurrent-horizontal-pod-autoscaler-syncs': flag(
    'int32',
    '5',
    'HPAController.ConcurrentHorizontalPodAutoscalerSyncs',
    'HorizontalPodAutoscalers that may sync at once',
  ),
  'horizontal-pod-autoscaler-cpu-initialization-period': flag(
    'duration',
    '5m0s',
    'HPAController.HorizontalPodAutoscalerCPUInitializationPeriod',
    'CPU samples this soon after a pod started may be left out',
  ),
  'horizontal-pod-autoscaler-downscale-stabilization': flag(
    'duration',
    '5m0s',
    'HPAController.HorizontalPodAutoscalerDownscaleStabilizationWindow',
    'Never scale below what was advised within this time',
  ),
  'horizontal-pod-autoscaler-initial-readiness-delay': flag(
    'duration',
    '30s',
    'HPAController.HorizontalPodAutoscalerInitialReadinessDelay',
    'Readiness changes this soon after a pod started count as its first',
  ),
  'horizontal-pod-autoscaler-sync-period': flag(
    'duration',
    '15s',
    'HPAController.HorizontalPodAutoscalerSyncPeriod',
    'How often each autoscaler is looked at',
  ),
  'horizontal-pod-autoscaler-tolerance': flag(
    'float',
    '0.1',
    'HPAController.HorizontalPodAutoscalerTolerance',
    'Change below which nothing is scaled',
  ),
};

export const jobFlags = {
  'concurrent-job-syncs': flag('int32', '5', 'JobController.ConcurrentJobSyncs', 'Jobs that may sync at once'),
};

export const cronJobFlags = {
  'concurrent-cron-job-syncs': flag(
    'int32',
    '5',
    'CronJobController.ConcurrentCronJobSyncs',
    'CronJobs that may sync at once',
  ),
};

export const replicaSetFlags = {
  'concurrent-replicaset-syncs': flag(
    'int32',
    '5',
    'ReplicaSetController.ConcurrentRSSyncs',
    'ReplicaSets that may sync at once',
  ),
};

export const replicationControllerFlags = {
  'concurrent-rc-syncs': flag(
    'int32',
    '5',
    'ReplicationController.ConcurrentRCSyncs',
    'ReplicationControllers that may sync at once',
  ),
};

export const ttlAfterFinishedFlags = {
  'concurrent-ttl-after-finished-syncs': flag(
    'int32',
    '5',
    'TTLAfterFinishedController.ConcurrentTTLSyncs',
    'Finished Jobs that may sync at once',
  ),
};
