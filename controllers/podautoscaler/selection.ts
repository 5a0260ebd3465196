import type { Cached, ObjectKey, Pod } from '../../pkg/api/index.ts';
import type { NewEvent } from '../../pkg/events/index.ts';
import type { NewCondition } from './conditions.ts';

/** The pods of a target, as far as its scale tells which they are. */
export type Selection =
  | { readonly kind: 'selected'; readonly selector: string; readonly pods: readonly Cached<Pod>[] }
  | { readonly kind: 'refused'; readonly message: string; readonly event: NewEvent; readonly condition: NewCondition };

type Refusal = Extract<Selection, { kind: 'refused' }>;

export function refuseMissing(): Refusal {
  const why = "the HPA target's scale is missing a selector";
  return refuse('selector is required', 'SelectorRequired', { reason: 'InvalidSelector', message: why });
}

/** Two autoscalers that control the same pods would work against each other. */
export function refuseAmbiguous(selector: string, autoscalers: readonly ObjectKey[]): Refusal {
  const listed = `[${autoscalers.toSorted().join(' ')}]`;
  const message = `pods by selector ${selector} are controlled by multiple HPAs: ${listed}`;
  return refuse(message, 'AmbiguousSelector', { reason: 'AmbiguousSelector', message });
}

function refuse(message: string, reason: string, condition: Pick<NewCondition, 'reason' | 'message'>): Refusal {
  return {
    kind: 'refused',
    message,
    event: { type: 'Warning', reason, message },
    condition: { type: 'ScalingActive', status: 'False', ...condition },
  };
}
