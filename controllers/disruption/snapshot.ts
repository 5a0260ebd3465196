import type { Cached, ObjectKey, OwnerReference, Pod, PodDisruptionBudget } from '../../pkg/api/index.ts';
import type { Store } from '../../informers/index.ts';
import { runBounded } from '../../pkg/controller/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { findCachedScale, type ScaleCaches } from './cached-scales.ts';
import { controllersOf, needsScales, selectUnread, type ControllerScale } from './expectation.ts';
import { createScaleReader, type LiveScalesDeps } from './live-scales.ts';
import type { BudgetSnapshot } from './plan.ts';

export interface SnapshotDeps extends LiveScalesDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly budgets: Pick<Store<PodDisruptionBudget>, 'get'>;
  readonly podsOf: (budget: Cached<PodDisruptionBudget>) => readonly Cached<Pod>[];
  readonly caches: ScaleCaches;
}

/** A budget is not worth more: every request takes one of the controller's connections. */
const concurrentReads = 5;

/**
 * The input of a sync; undefined if the budget is deleted. Pods and budgets may change during the request for a scale,
 * so everything is read again after it.
 */
export async function takeSnapshot(
  key: ObjectKey,
  deps: SnapshotDeps,
  signal: AbortSignal,
): Promise<BudgetSnapshot | undefined> {
  const scales = new Map<string, ControllerScale>();
  const read = createScaleReader(deps);
  let limit = 1; // most often all controllers are of one kind, and if that has no scale, one request tells
  for (;;) {
    const budget = deps.budgets.get(key);
    if (budget === undefined) return undefined;
    const { namespace } = budget.metadata;
    const pods = deps.podsOf(budget);
    const controllers = needsScales(budget) ? [...controllersOf(pods).values()] : [];
    for (const reference of controllers) {
      const cached = findCachedScale(reference, namespace, deps.caches);
      if (cached !== undefined) scales.set(reference.uid, cached);
    }
    const unread = controllers.every(({ uid }) => scales.has(uid)) ? [] : selectUnread(pods, scales);
    if (unread.length === 0) return { budget, pods, scales, nowMs: deps.clock.now() };
    await readUntilFailure(unread.slice(0, limit), scales, (reference) => read(reference, namespace, signal));
    limit = unread.length;
  }
}

async function readUntilFailure(
  references: readonly Cached<OwnerReference>[],
  scales: Map<string, ControllerScale>,
  read: (reference: Cached<OwnerReference>) => Promise<ControllerScale>,
): Promise<void> {
  let hasFailed = false;
  await runBounded(concurrentReads, references, async (reference) => {
    if (hasFailed) return;
    const scale = await read(reference);
    scales.set(reference.uid, scale);
    if (scale.kind !== 'found') hasFailed = true;
  });
}
