import {
  findCondition,
  formatTime,
  isEqualJson,
  type Cached,
  type PodDisruptionBudgetCondition,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
} from '../../pkg/api/index.ts';

export interface BudgetCounts {
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  readonly disruptedPods: Readonly<Record<string, string>>;
}

const disruptionAllowed = 'DisruptionAllowed';

/** The status to write; undefined if the budget already has it. */
export function changedStatus(
  budget: Cached<PodDisruptionBudget>,
  counts: BudgetCounts,
  nowMs: number,
): PodDisruptionBudgetStatus | undefined {
  const { currentHealthy, desiredHealthy, expectedPods, disruptedPods } = counts;
  const surplus = Math.max(0, currentHealthy - desiredHealthy);
  // A budget without pods allows no disruption: its first pods may appear before this status is computed again.
  const disruptionsAllowed = expectedPods <= 0 ? 0 : surplus;
  const { generation } = budget.metadata;
  const numbers = { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed };
  if (isCurrent(budget, { ...numbers, disruptedPods })) return undefined;
  const wanted =
    disruptionsAllowed > 0
      ? { status: 'True', reason: 'SufficientPods', message: '' }
      : { status: 'False', reason: 'InsufficientPods', message: '' };
  return {
    ...numbers,
    ...(Object.keys(disruptedPods).length > 0 && { disruptedPods: { ...disruptedPods } }),
    observedGeneration: generation,
    conditions: withCondition(budget, { ...wanted, observedGeneration: generation }, nowMs),
  };
}

/**
 * The status after a failed sync; undefined if the budget already has it. It allows no disruption: the API server would
 * evict pods by numbers that are no longer true.
 */
export function changedFailureStatus(
  budget: Cached<PodDisruptionBudget>,
  message: string,
  nowMs: number,
): PodDisruptionBudgetStatus | undefined {
  const { status } = budget;
  const present = findCondition(status?.conditions ?? [], disruptionAllowed);
  const isReported = present?.status === 'False' && present.reason === 'SyncFailed' && present.message === message;
  if (isReported && status?.disruptionsAllowed === 0) return undefined;
  const failed = { status: 'False', reason: 'SyncFailed', message, observedGeneration: status?.observedGeneration };
  return {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    ...(status as PodDisruptionBudgetStatus | undefined),
    disruptionsAllowed: 0,
    conditions: withCondition(budget, failed, nowMs),
  };
}

function isCurrent(
  { metadata, status }: Cached<PodDisruptionBudget>,
  wanted: BudgetCounts & { readonly disruptionsAllowed: number },
): boolean {
  if (status === undefined || (status.observedGeneration ?? 0) !== (metadata.generation ?? 0)) return false;
  const { disruptedPods, ...numbers } = wanted;
  const names = Object.keys(numbers) as (keyof typeof numbers)[];
  if (names.some((name) => status[name] !== numbers[name])) return false;
  if (!isEqualJson(status.disruptedPods ?? {}, disruptedPods)) return false;
  const condition = findCondition(status.conditions ?? [], disruptionAllowed);
  const [allowed, reason] = numbers.disruptionsAllowed > 0 ? ['True', 'SufficientPods'] : ['False', 'InsufficientPods'];
  return condition?.status === allowed && condition.reason === reason;
}

/** Replaces the DisruptionAllowed condition. Its time changes only with its status. */
function withCondition(
  { status }: Cached<PodDisruptionBudget>,
  wanted: Omit<PodDisruptionBudgetCondition, 'type' | 'lastTransitionTime'>,
  nowMs: number,
): PodDisruptionBudgetCondition[] {
  const conditions: readonly Cached<PodDisruptionBudgetCondition>[] = status?.conditions ?? [];
  const present = findCondition(conditions, disruptionAllowed);
  const isSame = present !== undefined && present.status === wanted.status;
  const lastTransitionTime = isSame ? present.lastTransitionTime : formatTime(nowMs);
  const condition: PodDisruptionBudgetCondition = { type: disruptionAllowed, ...wanted, lastTransitionTime };
  if (present === undefined) return [...conditions, condition];
  return conditions.map((each) => (each === present ? condition : each));
}
