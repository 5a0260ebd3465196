import { isConditionTrue, isEqualJson, type Cached, type Node, type Taint } from '../../pkg/api/index.ts';

const shutdownTaint: Taint = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };

function isShutdownTaint({ key, effect }: Cached<Taint>): boolean {
  return key === shutdownTaint.key && effect === shutdownTaint.effect;
}

/** The machine of a node that is ready is not asked for. */
export function isReady({ status }: Cached<Node>): boolean {
  return isConditionTrue(status?.conditions, 'Ready');
}

/** All taints of the node with that of a machine that is shut down; undefined if it has it. */
export function withShutdownTaint({ spec }: Cached<Node>): readonly Cached<Taint>[] | undefined {
  const taints = spec.taints ?? [];
  const present = taints.find(isShutdownTaint);
  if (present === undefined) return [...taints, shutdownTaint];
  if (isEqualJson(present, shutdownTaint, { emptyIsAbsent: true })) return undefined;
  return taints.map((taint) => (isShutdownTaint(taint) ? shutdownTaint : taint));
}

/** All taints of the node without it; undefined if it does not have it. */
export function withoutShutdownTaint({ spec }: Cached<Node>): readonly Cached<Taint>[] | undefined {
  const taints = spec.taints ?? [];
  return taints.some(isShutdownTaint) ? taints.filter((taint) => !isShutdownTaint(taint)) : undefined;
}
