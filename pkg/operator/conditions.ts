import * as z from 'zod';

import { findCondition, type Cached } from '../api/index.ts';

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

/** The schema of `status.conditions`. */
export const conditionsSchema = z
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
  changes: readonly NewCondition[],
  { now, generation }: { readonly now: string; readonly generation: number | undefined },
): readonly Cached<Condition>[] {
  const merged = [...existing];
  for (const change of changes) {
    const old = findCondition(merged, change.type);
    const condition: Condition = {
      ...change,
      message: change.message ?? '',
      lastTransitionTime: old?.status === change.status ? old.lastTransitionTime : now,
      ...(generation !== undefined && { observedGeneration: generation }),
    };
    merged.splice(old === undefined ? merged.length : merged.indexOf(old), old === undefined ? 0 : 1, condition);
  }
  return merged;
}
