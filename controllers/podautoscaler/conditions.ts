import { formatTime, type Cached, type HorizontalPodAutoscalerCondition } from '../../pkg/api/index.ts';

export type Condition = Cached<HorizontalPodAutoscalerCondition>;
export type NewCondition = Pick<HorizontalPodAutoscalerCondition, 'type' | 'status' | 'reason' | 'message'>;

/** The conditions with this one set. `lastTransitionTime` changes only with `status`. */
export function withCondition(conditions: readonly Condition[], wanted: NewCondition, nowMs: number): Condition[] {
  const present = conditions.find(({ type }) => type === wanted.type);
  const isSameStatus = present?.status === wanted.status;
  const next: Condition = {
    ...wanted,
    lastTransitionTime: isSameStatus ? present.lastTransitionTime : formatTime(nowMs),
  };
  if (present === undefined) return [...conditions, next];
  return conditions.map((condition) => (condition === present ? next : condition));
}

export function withoutCondition(conditions: readonly Condition[], unwanted: string): Condition[] {
  return conditions.filter(({ type }) => type !== unwanted);
}
