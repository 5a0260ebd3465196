import {
  compileSelector,
  controllerOf,
  isBeingDeleted,
  isEqualJson,
  keyOf,
  Pods,
  splitKey,
  type Cached,
  type ObjectKey,
  type Pod,
  type PodDisruptionBudget,
} from '../../pkg/api/index.ts';
import { defineSelectorIndex, SelectedPods, selectorOrNone, type KeySink } from '../../pkg/controller/index.ts';
import type { EventRecorder } from '../../pkg/events/index.ts';
import type { Handler, Informer } from '../../informers/index.ts';
import { isPodReady } from '../../pkg/pods/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { WorkQueue } from '../../workqueue/index.ts';
import { staleTargetAfterMs } from './stale-target.ts';

const budgetsBySelector = defineSelectorIndex<PodDisruptionBudget>('budget selector', ({ spec }) => {
  const selector = spec?.selector ?? undefined;
  return selector && (selector.matchLabels ?? {});
});

/** The pods of each budget. A change that no budget counts, as a restart of a container, costs no sync. */
export function selectPods(
  budgets: Informer<PodDisruptionBudget>,
  pods: Informer<Pod>,
  queue: KeySink,
): SelectedPods<PodDisruptionBudget> {
  return new SelectedPods<PodDisruptionBudget>({
    owners: budgets,
    pods,
    index: budgetsBySelector,
    selectorOf: ({ spec }) => selectorOrNone(() => compileSelector(spec?.selector ?? undefined)),
    hasSameSelector: (before, after) => isEqualJson(before.spec?.selector, after.spec?.selector),
    isRelevant: isBudgetChange,
    onOwnerChange: (key) => queue.add(key),
    onPodChange: (key) => queue.add(key),
  });
}

/** Whether a change of a pod can change the status of its budgets. */
export function isBudgetChange(before: Cached<Pod>, after: Cached<Pod>): boolean {
  return (
    isPodReady(before) !== isPodReady(after) ||
    isBeingDeleted(before.metadata) !== isBeingDeleted(after.metadata) ||
    controllerOf(before)?.uid !== controllerOf(after)?.uid
  );
}

/** Warns that the API server will not evict a pod with more than one budget. */
export function warnOfSeveralBudgets(
  budgetsOf: (pod: Cached<Pod>) => readonly ObjectKey[],
  recorder: EventRecorder,
): Handler<Pod> {
  const warn = (pod: Cached<Pod>): void => {
    const budgets = budgetsOf(pod);
    if (budgets.length < 2) return;
    const [chosen = ''] = budgets.map((key) => splitKey(key).name).sort();
    const { namespace, name } = pod.metadata;
    const message = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  Chose "${chosen}" arbitrarily.`;
    recorder.event(Pods, pod, { type: 'Warning', reason: 'MultiplePodDisruptionBudgets', message });
  };
  return {
    added: warn,
    updated(before, after) {
      if (before.metadata.resourceVersion !== after.metadata.resourceVersion) warn(after);
    },
    deleted: warn,
  };
}

/** Enqueues a pod for the time when its DisruptionTarget condition is stale. */
export function enqueueStaleTargets(queue: WorkQueue<ObjectKey>, clock: Pick<Clock, 'now'>): Handler<Pod> {
  const enqueue = (pod: Cached<Pod>): void => {
    const afterMs = staleTargetAfterMs(pod, clock.now());
    if (afterMs !== undefined) queue.addAfter(keyOf(pod), afterMs);
  };
  const cancelFor = (pod: Cached<Pod>): void => {
    if (staleTargetAfterMs(pod, clock.now()) !== undefined) queue.cancelDelay(keyOf(pod));
  };
  return {
    added: enqueue,
    updated(before, after) {
      cancelFor(before);
      enqueue(after);
    },
    deleted: cancelFor,
  };
}
