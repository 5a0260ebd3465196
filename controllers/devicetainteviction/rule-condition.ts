import {
  findCondition,
  formatTime,
  int64Of,
  parseTime,
  type Cached,
  type DeviceTaintRule,
} from '../../pkg/api/index.ts';

export const evictionInProgress = 'EvictionInProgress';

/** A condition is written at most this often, unless the rule changes: evictions come in bursts. */
export const statusPeriodMs = 10_000;

export interface RuleCounts {
  /** Pods that the rule evicts, or would evict if its effect was NoExecute. */
  readonly pods: number;
  readonly namespaces: number;
  /** Of slices, and of claims; for the effect None only. */
  readonly published: number;
  readonly allocated: number;
  /** Since the start of the controller. */
  readonly evicted: number;
}

type Condition = NonNullable<NonNullable<Cached<DeviceTaintRule>['status']>['conditions']>[number];

/** How long the condition of a rule has to stay as it is; 0 if it may be written now. */
export function statusWaitMs({ metadata, status }: Cached<DeviceTaintRule>, nowMs: number): number {
  const condition = findCondition(status?.conditions, evictionInProgress);
  const sinceMs = nowMs - (parseTime(condition?.lastTransitionTime) ?? -Infinity);
  const isCurrent = int64Of(condition?.observedGeneration) === int64Of(metadata.generation);
  return condition !== undefined && isCurrent ? Math.max(0, statusPeriodMs - sinceMs) : 0;
}

/** The condition to write; undefined if the rule has it. Its time changes with every field, not only with its status. */
export function changedCondition(
  { metadata, spec, status }: Cached<DeviceTaintRule>,
  counts: RuleCounts,
  nowMs: number,
): Condition | undefined {
  const { status: value, reason, message } = describe(spec.taint.effect, counts);
  const whole = [message, describeEvicted(counts.evicted)].filter((part) => part !== '').join(' ');
  const present = findCondition(status?.conditions, evictionInProgress);
  const { generation } = metadata;
  const isSame =
    present?.status === value &&
    present.reason === reason &&
    present.message === whole &&
    int64Of(present.observedGeneration) === int64Of(generation);
  if (isSame) return undefined;
  const lastTransitionTime = formatTime(nowMs);
  return {
    type: evictionInProgress,
    status: value,
    reason,
    message: whole,
    observedGeneration: generation,
    lastTransitionTime,
  };
}

type Description = Record<'status' | 'reason' | 'message', string>;

function describe(effect: string, { pods, namespaces, published, allocated, evicted }: RuleCounts): Description {
  const where = namespaces === 1 ? '1 namespace' : `${namespaces} different namespaces`;
  if (effect === 'NoExecute') {
    const needs = pods === 1 ? '1 pod needs' : `${pods} pods need`;
    const message = `${needs} to be evicted in ${where}.`;
    if (pods > 0) return { status: 'True', reason: 'PodsPendingEviction', message };
    return { status: 'False', reason: evicted > 0 ? 'Completed' : 'NotStarted', message: '' };
  }
  if (effect === 'None') {
    const devices = (count: number, state: string): string =>
      `${count} ${state} ${count === 1 ? 'device' : 'devices'} selected.`;
    const message = [
      devices(published, 'published'),
      devices(allocated, 'allocated'),
      `${pods === 1 ? '1 pod' : `${pods} pods`} would be evicted in ${where} if the effect was NoExecute.`,
      'This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.',
    ].join(' ');
    return { status: 'False', reason: 'NoEffect', message };
  }
  return { status: 'False', reason: 'OtherEffect', message: 'Eviction only happens for the NoExecute effect.' };
}

function describeEvicted(count: number): string {
  if (count === 0) return '';
  return `${count === 1 ? '1 pod' : `${count} pods`} evicted since starting the controller.`;
}
