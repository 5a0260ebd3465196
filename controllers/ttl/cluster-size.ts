interface SizeClass {
  /** Below this many nodes the next smaller class holds. */
  readonly min: number;
  /** Above this many nodes the next larger class holds. */
  readonly max: number;
  readonly ttlSeconds: number;
}

/** They overlap, so that a cluster around a boundary does not rewrite all its nodes with every one that comes or goes. */
const classes: readonly SizeClass[] = [
  { min: 0, max: 100, ttlSeconds: 0 },
  { min: 90, max: 500, ttlSeconds: 15 },
  { min: 450, max: 1000, ttlSeconds: 30 },
  { min: 900, max: 2000, ttlSeconds: 60 },
  { min: 1800, max: Infinity, ttlSeconds: 300 },
];

/** The class of a cluster of this many nodes that was of `step` before. */
export function nextStep(step: number, nodes: number): number {
  let next = step;
  while (nodes > (classes[next]?.max ?? Infinity)) next += 1;
  while (nodes < (classes[next]?.min ?? 0)) next -= 1;
  return next;
}

/** For how long kubelets in a cluster of that class may go on with a Secret or ConfigMap they have read. */
export function ttlSecondsOf(step: number): number {
  return classes[step]?.ttlSeconds ?? 0;
}
