import { addRecommendation, type Recommendation } from './history.ts';

export interface Stabilized {
  readonly replicas: number;
  /** Why `replicas` may differ from what the metrics ask for. */
  readonly reason: string;
  readonly message: string;
  readonly recommendations: readonly Recommendation[];
}

const down = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
};
const up = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
};

/** Without `behavior`: the highest recommendation of the window. */
export function stabilizeDownscale(
  known: readonly Recommendation[],
  desiredReplicas: number,
  windowMs: number,
  nowMs: number,
): Stabilized {
  const cutoffMs = nowMs - windowMs;
  const isOld = ({ atMs }: Recommendation): boolean => atMs < cutoffMs;
  const replicas = known.reduce((max, each) => (isOld(each) ? max : Math.max(max, each.replicas)), desiredReplicas);
  const recommendations = addRecommendation(known, { replicas: desiredReplicas, atMs: nowMs }, isOld);
  return { replicas, ...down, recommendations };
}

export interface StabilizationWindows {
  readonly upSeconds: number;
  readonly downSeconds: number;
}

/**
 * With `behavior`: the present replicas, raised to the lowest recommendation of the window for scaling up, or lowered to
 * the highest one of the window for scaling down.
 */
export function stabilizeBoth(
  known: readonly Recommendation[],
  { currentReplicas, desiredReplicas }: { readonly currentReplicas: number; readonly desiredReplicas: number },
  { upSeconds, downSeconds }: StabilizationWindows,
  nowMs: number,
): Stabilized {
  const upCutoffMs = nowMs - upSeconds * 1000;
  const downCutoffMs = nowMs - downSeconds * 1000;
  let lowest = desiredReplicas;
  let highest = desiredReplicas;
  for (const { replicas, atMs } of known) {
    if (atMs > upCutoffMs) lowest = Math.min(lowest, replicas);
    if (atMs > downCutoffMs) highest = Math.max(highest, replicas);
  }
  const isOld = ({ atMs }: Recommendation): boolean => atMs < upCutoffMs && atMs < downCutoffMs;
  const recommendations = addRecommendation(known, { replicas: desiredReplicas, atMs: nowMs }, isOld);
  const replicas = Math.min(Math.max(currentReplicas, lowest), highest);
  return { replicas, ...(desiredReplicas >= currentReplicas ? up : down), recommendations };
}
