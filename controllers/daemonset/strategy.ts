import { scaledValue, type Cached, type DaemonSet } from '../../pkg/api/index.ts';

/** How far a rolling update may go at once. */
export interface RolloutLimits {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** The limits for this number of nodes. At least one of them is above 0, or the update could not proceed. */
export function rolloutLimits(daemonSet: Cached<DaemonSet>, desired: number): RolloutLimits {
  const rolling = rollingUpdateOf(daemonSet);
  const maxSurge = scaledValue(rolling?.maxSurge ?? 0, desired, 'up');
  const maxUnavailable = scaledValue(rolling?.maxUnavailable ?? 0, desired, 'up');
  const isStuck = desired > 0 && maxSurge === 0 && maxUnavailable === 0;
  return { maxSurge, maxUnavailable: isStuck ? 1 : maxUnavailable };
}

/** Whether a node may have two pods during an update. */
export function allowsSurge(daemonSet: Cached<DaemonSet>): boolean {
  return scaledValue(rollingUpdateOf(daemonSet)?.maxSurge ?? 0, 1, 'up') > 0;
}

function rollingUpdateOf({ spec: { updateStrategy } }: Cached<DaemonSet>) {
  return updateStrategy?.type === 'RollingUpdate' ? updateStrategy.rollingUpdate : undefined;
}
