import { isBeingDeleted, type Cached, type DaemonSet, type Pod } from '../../pkg/api/index.ts';
import { isPodAvailable } from '../../pkg/pods/index.ts';
import { isPodUpdated, type Current, type Layout, type NodeView } from './daemon-pods.ts';
import type { PodChanges } from './manage.ts';
import { rolloutLimits } from './strategy.ts';

export interface RollingInput {
  readonly daemonSet: Cached<DaemonSet>;
  readonly layout: Layout;
  readonly current: Current;
  readonly nowMs: number;
}

/**
 * Replaces old pods within the limits of the strategy. Without surge it deletes old pods, and the next sync creates new
 * ones. With surge it creates new pods beside the old ones, and deletes an old pod once the new one is available.
 */
export function planRollingUpdate(input: RollingInput): PodChanges {
  const desired = input.layout.nodes.filter(({ shouldRun }) => shouldRun).length;
  const { maxSurge, maxUnavailable } = rolloutLimits(input.daemonSet, desired);
  const pairs = pairUp(input);
  return maxSurge === 0 ? planReplacements(pairs, maxUnavailable) : planSurge(pairs, { maxSurge, desired });
}

/** The old and the new pod of one node. */
interface Pair {
  /** Undefined if the node does not exist. */
  readonly node: NodeView | undefined;
  readonly old: Cached<Pod> | undefined;
  readonly updated: Cached<Pod> | undefined;
  readonly isOldAvailable: boolean;
  readonly isUpdatedAvailable: boolean;
  /** Several old or several new pods on one node, which the next sync removes. */
  readonly isCrowded: boolean;
}

function pairUp({ daemonSet, layout, current, nowMs }: RollingInput): Pair[] {
  const { minReadySeconds = 0 } = daemonSet.spec;
  const isAvailable = (pod: Cached<Pod> | undefined): boolean =>
    pod !== undefined && isPodAvailable(pod, minReadySeconds, nowMs);
  const pairOf = (pods: readonly Cached<Pod>[], node: NodeView | undefined): Pair => {
    const staying = pods.filter(({ metadata }) => !isBeingDeleted(metadata));
    const [updated, ...moreUpdated] = staying.filter((pod) => isPodUpdated(pod, current));
    const [old, ...moreOld] = staying.filter((pod) => !isPodUpdated(pod, current));
    const isCrowded = moreUpdated.length > 0 || moreOld.length > 0;
    return {
      node,
      old,
      updated,
      isOldAvailable: isAvailable(old),
      isUpdatedAvailable: isAvailable(updated),
      isCrowded,
    };
  };
  const involved = layout.nodes.filter(({ shouldRun, pods }) => shouldRun || pods.length > 0);
  return [
    ...involved.map((node) => pairOf(node.pods, node)),
    ...[...layout.strays.values()].map((pods) => pairOf(pods, undefined)),
  ];
}

/** An old pod that is not available can always be replaced. Others are replaced while the limit allows. */
function planReplacements(pairs: readonly Pair[], maxUnavailable: number): PodChanges {
  const replacements: Cached<Pod>[] = [];
  const candidates: Cached<Pod>[] = [];
  let unavailable = 0;
  for (const { old, updated, isOldAvailable, isUpdatedAvailable, isCrowded } of pairs) {
    const isSettled = !isCrowded && (old === undefined) !== (updated === undefined);
    if (!isSettled) unavailable += 1;
    else if (old === undefined) unavailable += isUpdatedAvailable ? 0 : 1;
    else if (isOldAvailable) candidates.push(old);
    else {
      replacements.push(old);
      unavailable += 1;
    }
  }
  const allowed = Math.max(0, maxUnavailable - unavailable);
  return { create: [], delete: [...replacements, ...candidates.slice(0, allowed)] };
}

function planSurge(
  pairs: readonly Pair[],
  { maxSurge, desired }: { readonly maxSurge: number; readonly desired: number },
): PodChanges {
  const remove: Cached<Pod>[] = [];
  const misplaced: Cached<Pod>[] = [];
  const allowed: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  let available = 0;
  for (const { node, old, updated, isOldAvailable, isUpdatedAvailable, isCrowded } of pairs) {
    if (isCrowded) {
      surging += 1;
      continue;
    }
    if (old === undefined ? isUpdatedAvailable : isOldAvailable) available += 1;
    if (old === undefined) continue;
    if (updated !== undefined) {
      if (isUpdatedAvailable) remove.push(old);
      else surging += 1;
    } else if (node?.shouldRun === true) (isOldAvailable ? candidates : allowed).push(node.name);
    else if (node !== undefined) (isOldAvailable ? misplaced : remove).push(old);
  }
  // A pod that must leave its node stays until the desired number of pods is available without it.
  const spare = Math.max(0, available - desired);
  return {
    create: [...allowed, ...candidates.slice(0, Math.max(0, maxSurge - surging))],
    delete: [...remove, ...misplaced.slice(0, spare)],
  };
}
