import { PodDisruptionBudgets, Pods, type ObjectKey, type PodDisruptionBudget } from '../../pkg/api/index.ts';
import {
  decided,
  PendingWrites,
  runAll,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
  type Work,
} from '../../pkg/controller/index.ts';
import { applyBudget } from './apply.ts';
import { scaleCaches } from './cached-scales.ts';
import { selectPods, warnOfSeveralBudgets } from './handlers.ts';
import { planBudget } from './plan.ts';
import { takeSnapshot } from './snapshot.ts';
import { staleTargetWork } from './stale-targets.ts';

const name = 'disruption-controller';
/** While a thousand pods are replaced, each of their events enqueues the budget, and each sync counts all of them. */
const minIntervalMs = 100;

/** Maintains the statuses of PodDisruptionBudgets, by which the API server allows or refuses evictions. */
export function createDisruptionController(context: ControllerContext): Controller {
  const { clock } = context;
  const client = context.clientFor(name);
  const queue = context.queueFor('disruption');
  const recheckQueue = context.queueFor('disruption_recheck');
  const budgets = context.informers.informerFor(PodDisruptionBudgets);
  const pods = context.informers.informerFor(Pods);
  const caches = scaleCaches(context.informers);
  const recorder = context.recorderFor('controllermanager');
  const pending = new PendingWrites<PodDisruptionBudget>(budgets, clock);
  const selected = selectPods(budgets, pods, queue);
  const warnings = pods.addHandler(warnOfSeveralBudgets((pod) => selected.ownersOf(pod), recorder));

  const snapshotDeps = {
    client,
    discovery: context.discovery,
    clock,
    budgets: budgets.store,
    podsOf: selected.podsOf.bind(selected),
    caches,
  };

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const snapshot = await takeSnapshot(key, snapshotDeps, signal);
    if (snapshot === undefined) return {};
    const plan = decided(planBudget(snapshot));
    if (plan.recheckAfterMs !== undefined) recheckQueue.addAfter(key, plan.recheckAfterMs);
    await applyBudget(plan, snapshot.budget, { client, clock, recorder, pending }, signal);
    return {};
  }

  async function recheck(key: ObjectKey): Promise<ReconcileResult> {
    queue.add(key);
    return {};
  }

  const work = { name, context, workers: 1 }; // the Go binary has no flag for this either
  const works: Work[] = [
    {
      ...work,
      queue,
      reconcile,
      caches: [budgets, pods, selected, warnings, ...Object.values(caches)],
      primary: budgets.store,
      ownWrites: [pending],
      minIntervalMs: () => minIntervalMs,
      forget: (key) => recheckQueue.cancelDelay(key),
    },
    { ...work, queue: recheckQueue, reconcile: recheck, caches: [budgets] },
    staleTargetWork(context, { client, name }),
  ];
  const loops = works.map((each) => (signal: AbortSignal) => runWorkers(each, signal));
  return { name, run: (signal) => runAll(loops, signal) };
}
