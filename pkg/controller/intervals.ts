/** The minimum time between two reconciles of an owner: near zero for a few pods, 100 ms from 1,000 pods on. */
export function reconcileIntervalMs(pods: number): number {
  return Math.min(100, pods / 10);
}

/** The minimum time between two status writes of an owner. Pods that start together become ready within about 10 ms. */
export const statusIntervalMs = 50;
