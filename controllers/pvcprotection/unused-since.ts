import { findCondition, type Cached, type PersistentVolumeClaim } from '../../pkg/api/index.ts';

const type = 'Unused';

export interface UnusedCondition {
  readonly type: typeof type;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const used: UnusedCondition = {
  type,
  status: 'False',
  reason: 'PodUsingPVC',
  message: 'A pod is currently referencing this PVC',
};
const unused: UnusedCondition = {
  type,
  status: 'True',
  reason: 'NoPodsUsingPVC',
  message: 'No pods are currently referencing this PVC',
};

/** Whether the claim is said to be unused; undefined if nothing is said. */
export function isSaidUnused({ status }: Cached<PersistentVolumeClaim>): boolean | undefined {
  const condition = findCondition(status?.conditions, type);
  return condition === undefined ? undefined : condition.status === 'True';
}

/** The condition to write; undefined if the claim says so already. */
export function planCondition(claim: Cached<PersistentVolumeClaim>, isUsed: boolean): UnusedCondition | undefined {
  const isUnused = isSaidUnused(claim);
  if (isUsed) return isUnused === false ? undefined : used;
  return isUnused === true ? undefined : unused;
}
