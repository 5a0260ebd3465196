import { findCondition, formatTime, ownValue, type Cached, type Node, type Taint } from '../../pkg/api/index.ts';
import { nodeTaints } from '../../pkg/taints/index.ts';

const { notReady, unreachable, unschedulable } = nodeTaints;

/** The NoSchedule taint of each condition and status. */
const taintOfCondition: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReady, Unknown: unreachable },
  MemoryPressure: { True: nodeTaints.memoryPressure },
  DiskPressure: { True: nodeTaints.diskPressure },
  NetworkUnavailable: { True: nodeTaints.networkUnavailable },
  PIDPressure: { True: nodeTaints.pidPressure },
};
const managedKeys: ReadonlySet<string> = new Set([
  unschedulable,
  ...Object.values(taintOfCondition).flatMap((byStatus) => Object.values(byStatus)),
]);

type Taints = readonly Cached<Taint>[];

/** The node's taints, with NoSchedule taints that match its conditions; undefined if they already match. */
export function planConditionTaints(node: Cached<Node>, wallMs: number): Taints | undefined {
  const wanted = new Set<string>();
  for (const { type, status } of node.status?.conditions ?? []) {
    const key = ownValue(ownValue(taintOfCondition, type), status);
    if (key !== undefined) wanted.add(key);
  }
  if (node.spec.unschedulable === true) wanted.add(unschedulable);
  const present = node.spec.taints ?? [];
  const isManaged = ({ key, effect }: Cached<Taint>): boolean => effect === 'NoSchedule' && managedKeys.has(key);
  const kept = present.filter((taint) => !isManaged(taint) || wanted.has(taint.key));
  const missing = [...wanted].filter((key) => !kept.some((taint) => isManaged(taint) && taint.key === key));
  if (missing.length === 0 && kept.length === present.length) return undefined;
  const timeAdded = formatTime(wallMs);
  return [...kept, ...missing.map((key): Taint => ({ key, effect: 'NoSchedule', timeAdded }))];
}

/** The key of the NoExecute taint that a node with this Ready status must have. */
function evictionKeyOf(ready: string | undefined): string | undefined {
  return ready === 'False' ? notReady : ready === 'Unknown' ? unreachable : undefined;
}

const isEvictionTaint = ({ key, effect }: Cached<Taint>): boolean =>
  effect === 'NoExecute' && (key === notReady || key === unreachable);

export type EvictionStep =
  | 'none'
  /** Remove our NoExecute taints. */
  | 'clear'
  /** The pods are already being evicted and only the taint key changes: replace the taint at once. */
  | 'exchange'
  /** Add the node to the eviction queue of its zone. */
  | 'queue'
  /** Both: a taint left by an earlier process does not evict pods before this process has checked the node. */
  | 'clear-and-queue';

/** Decides what to do with the NoExecute taints of a node. */
export function planEvictionStep(
  node: Cached<Node>,
  {
    ready,
    isNew,
    isFullDisruption,
  }: { readonly ready: string | undefined; readonly isNew: boolean; readonly isFullDisruption: boolean },
): EvictionStep {
  const present = (node.spec.taints ?? []).filter(isEvictionTaint);
  const isTainted = present.length > 0;
  if (isFullDisruption || ready === 'True') return isTainted ? 'clear' : 'none';
  const key = evictionKeyOf(ready);
  if (key === undefined) return isTainted && isNew ? 'clear' : 'none';
  if (isNew) return isTainted ? 'clear-and-queue' : 'queue';
  if (!isTainted) return 'queue';
  return present.some((taint) => taint.key !== key) ? 'exchange' : 'none';
}

export function withoutEvictionTaints({ spec }: Cached<Node>): Taints | undefined {
  const taints = spec.taints ?? [];
  const kept = taints.filter((taint) => !isEvictionTaint(taint));
  return kept.length === taints.length ? undefined : kept;
}

/** The node's taints with the NoExecute taint of its Ready status; undefined if it needs none, or already has it. */
export function withEvictionTaint(node: Cached<Node>, wallMs: number): Taints | undefined {
  const key = evictionKeyOf(findCondition(node.status?.conditions, 'Ready')?.status);
  if (key === undefined) return undefined;
  const taints = node.spec.taints ?? [];
  const kept = taints.filter((taint) => !isEvictionTaint(taint) || taint.key === key);
  if (kept.some(isEvictionTaint)) return kept.length === taints.length ? undefined : kept;
  return [...kept, { key, effect: 'NoExecute', timeAdded: formatTime(wallMs) }];
}
