import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag, type ValuesOf } from '../../pkg/flags/index.ts';
import { createPodAutoscaler, type AutoscalerOptions } from './pod-autoscaler.ts';

const flags = {
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

export const podAutoscaler = defineController({
  name: 'horizontal-pod-autoscaler-controller',
  aliases: ['horizontalpodautoscaling'],
  flags,
  create: (context, options) => createPodAutoscaler(context, optionsOf(options)),
});

/** The settings by the values of the flags. */
export function optionsOf(values: ValuesOf<typeof flags>): AutoscalerOptions {
  return {
    workers: values['concurrent-horizontal-pod-autoscaler-syncs'],
    syncPeriodMs: values['horizontal-pod-autoscaler-sync-period'],
    downscaleStabilizationMs: values['horizontal-pod-autoscaler-downscale-stabilization'],
    tolerance: values['horizontal-pod-autoscaler-tolerance'],
    cpuInitializationMs: values['horizontal-pod-autoscaler-cpu-initialization-period'],
    initialReadinessDelayMs: values['horizontal-pod-autoscaler-initial-readiness-delay'],
  };
}
