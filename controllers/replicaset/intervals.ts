/** The minimum time between two reconciles of an owner: none for a few pods, a tenth of a second from 1,000 pods on. */
export function reconcileIntervalMs(pods: number): number {
  return Math.min(100, pods / 10);
}

/** The minimum time between two status writes of an owner. Pods that start together become ready within some 10 ms. */
export const statusIntervalMs = 50;
