import type { Cached, MetricStatus } from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import type { NewCondition } from './conditions.ts';
import type { Evaluated } from './evaluate.ts';

export interface Proposals {
  /** Undefined: no usable result. */
  readonly replicas: number | undefined;
  readonly metric: string;
  readonly statuses: readonly Cached<MetricStatus>[];
  /** About metrics that could not be used. */
  readonly events: readonly NewEvent[];
  readonly condition: NewCondition;
  /** Why some metrics, or all, could not be used. */
  readonly failure: string | undefined;
}

/** The largest proposal counts. With a metric that cannot be used, replicas may be added but not removed. */
export function combineProposals(evaluated: readonly Evaluated[], specReplicas: number): Proposals {
  const invalid = evaluated.filter((each) => each.kind === 'invalid');
  const valid = evaluated.filter((each) => each.kind === 'valid');
  let replicas = 0;
  let metric = '';
  for (const proposal of valid) {
    if (replicas !== 0 && proposal.replicas <= replicas) continue;
    ({ replicas, name: metric } = proposal);
  }
  const [first] = invalid;
  const counted = `${invalid.length} invalid out of ${evaluated.length}`;
  const common = {
    metric,
    statuses: evaluated.map((each): Cached<MetricStatus> => (each.kind === 'valid' ? each.status : { type: '' })),
    events: invalid.map(({ reason, message }): NewEvent => ({ type: 'Warning', reason, message })),
    failure: first && `invalid metrics (${counted}), first error is: ${first.error}`,
  };
  if (first !== undefined && (valid.length === 0 || replicas < specReplicas)) {
    const message = `the HPA was unable to compute the replica count: ${first.message}`;
    const condition = { type: 'ScalingActive', status: 'False', reason: first.reason, message };
    return { ...common, replicas: undefined, condition };
  }
  const message = `the HPA was able to successfully calculate a replica count from ${metric}`;
  const condition = { type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound', message };
  return { ...common, replicas, condition };
}
