interface SizeClass {
  /** With fewer nodes, the next smaller class applies. */
  readonly min: number;
  /** With more nodes, the next larger class applies. */
  readonly max: number;
  readonly ttlSeconds: number;
}

/** The classes overlap, so that a cluster near a boundary does not rewrite all nodes whenever one is added or removed. */
const classes: readonly SizeClass[] = [
  { min: 0, max: 100, ttlSeconds: 0 },
  { min: 90, max: 500, ttlSeconds: 15 },
  { min: 450, max: 1000, ttlSeconds: 30 },
  { min: 900, max: 2000, ttlSeconds: 60 },
  { min: 1800, max: Infinity, ttlSeconds: 300 },
];

/** The class for this many nodes. `step` is the previous class. */
export function nextStep(step: number, nodes: number): number {
  let next = step;
  while (nodes > (classes[next]?.max ?? Infinity)) next += 1;
  while (nodes < (classes[next]?.min ?? 0)) next -= 1;
  return next;
}

/** For how long kubelets in a cluster of this class may cache Secrets and ConfigMaps. */
export function ttlSecondsOf(step: number): number {
  return classes[step]?.ttlSeconds ?? 0;
}
