import type { Cached, HPAScalingRules } from '../../pkg/api/index.ts';
import { addInt32, toInt32 } from './go-numbers.ts';
import { changeWithin, type History } from './history.ts';

export interface Limited {
  readonly replicas: number;
  readonly reason: string;
  readonly message: string;
}

export interface Bounds {
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

const withinRange = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' };
const scaleUpLimit = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
};
const scaleDownLimit = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
};
const tooMany = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
};
const tooFew = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
};

/** Without `behavior`, one sync at most doubles the replicas, or adds up to four. */
export function limitReplicas(
  currentReplicas: number,
  desiredReplicas: number,
  { minReplicas, maxReplicas }: Bounds,
): Limited {
  const fastest = toInt32(Math.max(2 * currentReplicas, 4));
  const [most, why] = maxReplicas > fastest ? [fastest, scaleUpLimit] : [maxReplicas, tooMany];
  if (desiredReplicas < minReplicas) return { replicas: minReplicas, ...tooFew };
  if (desiredReplicas > most) return { replicas: most, ...why };
  return { replicas: desiredReplicas, ...withinRange };
}

export interface Behavior {
  readonly scaleUp: Cached<HPAScalingRules>;
  readonly scaleDown: Cached<HPAScalingRules>;
}

export interface RateInput extends Bounds {
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly behavior: Behavior;
  readonly history: Pick<History, 'scaleUps' | 'scaleDowns'>;
  readonly nowMs: number;
}

/** With `behavior`, its policies limit the rate. */
export function limitRate(input: RateInput): Limited {
  const { currentReplicas, desiredReplicas, minReplicas, maxReplicas } = input;
  if (desiredReplicas > currentReplicas) {
    const fastest = Math.max(scaleUpLimitOf(input), currentReplicas);
    const [most, why] = maxReplicas > fastest ? [fastest, scaleUpLimit] : [maxReplicas, tooMany];
    if (desiredReplicas > most) return { replicas: most, ...why };
  } else if (desiredReplicas < currentReplicas) {
    const fastest = Math.min(scaleDownLimitOf(input), currentReplicas);
    const [least, why] = minReplicas < fastest ? [fastest, scaleDownLimit] : [minReplicas, tooFew];
    if (desiredReplicas < least) return { replicas: least, ...why };
  }
  return { replicas: desiredReplicas, ...withinRange };
}

const smallest = -(2 ** 31);
const largest = 2 ** 31 - 1;

function scaleUpLimitOf(input: RateInput): number {
  const { currentReplicas, behavior } = input;
  const { selectPolicy, policies } = behavior.scaleUp;
  if (selectPolicy === 'Disabled') return currentReplicas;
  const proposals = (policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = periodStart(input, periodSeconds);
    // Rounded up: a small percentage of few replicas would otherwise never add one.
    return type === 'Pods' ? addInt32(start, value) : toInt32(Math.ceil(start * (1 + value / 100)));
  });
  return selectPolicy === 'Min' ? Math.min(largest, ...proposals) : Math.max(smallest, ...proposals);
}

function scaleDownLimitOf(input: RateInput): number {
  const { currentReplicas, behavior } = input;
  const { selectPolicy, policies } = behavior.scaleDown;
  if (selectPolicy === 'Disabled') return currentReplicas;
  const proposals = (policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = periodStart(input, periodSeconds);
    return type === 'Pods' ? addInt32(start, -value) : toInt32(start * (1 - value / 100));
  });
  // The smallest change is the largest number of replicas that remain.
  return selectPolicy === 'Min' ? Math.max(smallest, ...proposals) : Math.min(largest, ...proposals);
}

/** The replicas at the start of a policy's period. */
function periodStart({ currentReplicas, history, nowMs }: RateInput, periodSeconds: number): number {
  const added = changeWithin(history.scaleUps, periodSeconds, nowMs);
  const removed = changeWithin(history.scaleDowns, periodSeconds, nowMs);
  return addInt32(addInt32(currentReplicas, -added), removed);
}

export function longestPeriodSeconds({ policies }: Cached<HPAScalingRules>): number {
  return Math.max(0, ...(policies ?? []).map(({ periodSeconds }) => periodSeconds));
}
