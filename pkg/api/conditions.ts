import type { Cached } from './cached.ts';

interface Condition {
  type: string;
  status: string;
}

export function findCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: readonly Cached<Condition>[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}
