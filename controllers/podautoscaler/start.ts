import { isConditionTrue } from '../../pkg/api/index.ts';
import { minReplicasOf, type Autoscaler, type Settings } from './settings.ts';

/** What the present number of replicas says, before any metric is read. */
export type Start =
  | { readonly kind: 'compute' }
  /** A user has scaled to zero: the autoscaler is off. */
  | { readonly kind: 'disabled' }
  | { readonly kind: 'bound'; readonly replicas: number; readonly reason: string };

export const belowMinimum = 'Current number of replicas below Spec.MinReplicas';

export function decideStart(autoscaler: Autoscaler, currentReplicas: number, settings: Settings): Start {
  const minReplicas = minReplicasOf(autoscaler);
  const { maxReplicas } = autoscaler.spec;
  if (currentReplicas === 0) {
    const wasScaledToZero = isScaledToZero(autoscaler, settings);
    const mayStart = wasScaledToZero && (minReplicas !== 0 || hasMetricWithoutPods(autoscaler));
    return { kind: mayStart ? 'compute' : 'disabled' };
  }
  if (currentReplicas > maxReplicas) {
    return { kind: 'bound', replicas: maxReplicas, reason: 'Current number of replicas above Spec.MaxReplicas' };
  }
  if (currentReplicas < minReplicas) return { kind: 'bound', replicas: minReplicas, reason: belowMinimum };
  return { kind: 'compute' };
}

/** Whether this controller has scaled the target to zero, so that it may scale it up again. */
export function isScaledToZero({ status }: Autoscaler, { scaleToZero }: Settings): boolean {
  return scaleToZero && isConditionTrue(status?.conditions ?? [], 'ScaledToZero');
}

/** Only these metrics exist while there are no pods. */
export function hasMetricWithoutPods({ spec }: Autoscaler): boolean {
  return (spec.metrics ?? []).some(({ type }) => type === 'Object' || type === 'External');
}
