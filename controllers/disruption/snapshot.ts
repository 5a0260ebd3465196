import type { Cached, ObjectKey, Pod, PodDisruptionBudget } from '../../pkg/api/index.ts';
import type { Store } from '../../informers/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { findCachedScale, type ScaleCaches } from './cached-scales.ts';
import { controllersOf, needsScales, type ControllerScale } from './expectation.ts';
import { readScale, type LiveScalesDeps } from './live-scales.ts';
import type { BudgetSnapshot } from './plan.ts';

export interface SnapshotDeps extends LiveScalesDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly budgets: Store<PodDisruptionBudget>;
  readonly podsOf: (budget: Cached<PodDisruptionBudget>) => readonly Cached<Pod>[];
  readonly caches: ScaleCaches;
}

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
    const unknown = controllers.filter(({ uid }) => !scales.has(uid));
    if (unknown.length === 0) return { budget, pods, scales, nowMs: deps.clock.now() };
    const read = unknown.map(async (reference) => {
      scales.set(reference.uid, await readScale(reference, namespace, deps, signal));
    });
    await Promise.all(read);
  }
}
