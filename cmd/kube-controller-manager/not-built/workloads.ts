import type { FactsSpec } from '../../../pkg/controller/index.ts';
import { atLeast, flag, type FlagTable } from '../../../pkg/flags/index.ts';

const autoscalerFlags = {
  'concurrent-horizontal-pod-autoscaler-syncs': flag('int32', {
    default: 5,
    check: atLeast(1),
    config: 'HPAController.ConcurrentHorizontalPodAutoscalerSyncs',
    help: 'HorizontalPodAutoscalers that may sync at the same time',
  }),
  'horizontal-pod-autoscaler-cpu-initialization-period': flag('duration', {
    default: '5m0s',
    config: 'HPAController.HorizontalPodAutoscalerCPUInitializationPeriod',
    help: 'CPU samples may be skipped for this long after a pod started',
  }),
  'horizontal-pod-autoscaler-downscale-stabilization': flag('duration', {
    default: '5m0s',
    config: 'HPAController.HorizontalPodAutoscalerDownscaleStabilizationWindow',
    help: 'A target is not scaled below any recommendation of this period',
  }),
  'horizontal-pod-autoscaler-initial-readiness-delay': flag('duration', {
    default: '30s',
    config: 'HPAController.HorizontalPodAutoscalerInitialReadinessDelay',
    help: 'Changes of readiness count as the initial readiness for this long after a pod started',
  }),
  'horizontal-pod-autoscaler-sync-period': flag('duration', {
    default: '15s',
    config: 'HPAController.HorizontalPodAutoscalerSyncPeriod',
    help: 'How often each HorizontalPodAutoscaler syncs',
  }),
  'horizontal-pod-autoscaler-tolerance': flag('float', {
    default: 0.1,
    config: 'HPAController.HorizontalPodAutoscalerTolerance',
    help: 'A target is scaled only if the metric differs from its target by more than this fraction',
  }),
};

/** Controllers of workloads, quotas and the API itself. */
export const workloadControllers: readonly FactsSpec<FlagTable>[] = [
  {
    name: 'daemonset-controller',
    aliases: ['daemonset'],
    flags: {
      'concurrent-daemonset-syncs': flag('int32', {
        default: 2,
        check: atLeast(1),
        config: 'DaemonSetController.ConcurrentDaemonSetSyncs',
        help: 'DaemonSets that may sync at the same time',
      }),
    },
  },
  { name: 'disruption-controller', aliases: ['disruption'] },
  {
    name: 'horizontal-pod-autoscaler-controller',
    aliases: ['horizontalpodautoscaling'],
    flags: autoscalerFlags,
  },
  { name: 'podgroup-protection-controller', requiredGates: ['GenericWorkload'] },
  {
    name: 'resourcequota-controller',
    aliases: ['resourcequota'],
    flags: {
      'concurrent-resource-quota-syncs': flag('int32', {
        default: 5,
        config: 'ResourceQuotaController.ConcurrentResourceQuotaSyncs',
        help: 'ResourceQuotas that may sync at the same time',
      }),
      'resource-quota-sync-period': flag('duration', {
        default: '5m0s',
        config: 'ResourceQuotaController.ResourceQuotaSyncPeriod',
        help: 'How often the usage of every ResourceQuota is computed again',
      }),
    },
  },
  {
    name: 'statefulset-controller',
    aliases: ['statefulset'],
    flags: {
      'concurrent-statefulset-syncs': flag('int32', {
        default: 5,
        check: atLeast(1),
        config: 'StatefulSetController.ConcurrentStatefulSetSyncs',
        help: 'StatefulSets that may sync at the same time',
      }),
    },
  },
  { name: 'storage-version-migrator-controller', aliases: ['svm'] },
  {
    name: 'storageversion-garbage-collector-controller',
    aliases: ['storage-version-gc'],
    requiredGates: ['APIServerIdentity', 'StorageVersionAPI'],
  },
  {
    name: 'validatingadmissionpolicy-status-controller',
    flags: {
      'concurrent-validating-admission-policy-status-syncs': flag('int32', {
        default: 5,
        check: atLeast(1),
        config: 'ValidatingAdmissionPolicyStatusController.ConcurrentPolicySyncs',
        help: 'ValidatingAdmissionPolicies that may sync at the same time',
      }),
    },
  },
];
