import * as z from 'zod';

import { findCondition, isEqualJson, type Cached } from '../api/index.ts';

/** A condition as Kubernetes defines it for all kinds. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number | undefined;
}

/** A condition to set. The last transition time and the observed generation are set automatically. */
export type NewCondition = Pick<Condition, 'type' | 'status' | 'reason'> & { readonly message?: string | undefined };

/** Removes the condition of this type. */
export interface RemovedCondition {
  readonly type: string;
  readonly status: null;
}

export type ConditionChange = NewCondition | RemovedCondition;

export type ConditionsSchema = z.ZodArray<
  z.ZodObject<{
    type: z.ZodString;
    status: z.ZodEnum<{ True: 'True'; False: 'False'; Unknown: 'Unknown' }>;
    reason: z.ZodString;
    message: z.ZodString;
    lastTransitionTime: z.ZodISODateTime;
    observedGeneration: z.ZodOptional<z.ZodInt>;
  }>
>;

/** The schema of `status.conditions`. */
export const conditionsSchema: ConditionsSchema = z
  .array(
    z.object({
      type: z.string().max(316),
      status: z.enum(['True', 'False', 'Unknown']),
      reason: z.string().min(1).max(1024),
      message: z.string().max(32_768),
      lastTransitionTime: z.iso.datetime(),
      observedGeneration: z.int().optional(),
    }),
  )
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });

/** The conditions after `changes`: one of each type, in the old order, with a new transition time where status changes. */
export function mergeConditions(
  existing: readonly Cached<Condition>[],
  changes: readonly ConditionChange[],
  facts: { readonly now: string; readonly generation: number | undefined },
): readonly Cached<Condition>[] {
  const merged = [...existing];
  for (const change of changes) {
    const old = findCondition(merged, change.type);
    const after = isRemoval(change) ? [] : [conditionAfter(old, change, facts)];
    merged.splice(old === undefined ? merged.length : merged.indexOf(old), old === undefined ? 0 : 1, ...after);
  }
  return merged;
}

function isRemoval(change: ConditionChange): change is RemovedCondition {
  return change.status === null;
}

/**
 * A condition that says the same stays as it is stored, if it is of this generation or of none. A schema without
 * `observedGeneration` or an empty message loses it in each write, and each write would lead to the next.
 */
function conditionAfter(
  old: Cached<Condition> | undefined,
  change: NewCondition,
  { now, generation }: { readonly now: string; readonly generation: number | undefined },
): Cached<Condition> {
  const { message = '' } = change;
  if (old !== undefined && isEqualJson(withoutEmpty(old), withoutEmpty({ ...old, ...change, message }))) {
    if (old.observedGeneration === undefined || old.observedGeneration === generation) return old;
  }
  return {
    ...change,
    message,
    lastTransitionTime: old?.status === change.status ? old.lastTransitionTime : now,
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}

/** Go omits an empty message of most kinds. */
function withoutEmpty({ message, ...rest }: Cached<Condition>): object {
  return message === '' ? rest : { ...rest, message };
}
