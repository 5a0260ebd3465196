import { isEqualJson, ownValue, setOwn } from '../api/index.ts';
import { mergeConditions, type Condition, type ConditionChange } from './conditions.ts';
import type { MergePatch, StatusOf } from './resource-client.ts';

/**
 * A change of the status: nested objects are merged, `null` removes a field at any depth, and lists are replaced, except
 * that conditions are merged by their type.
 */
export type StatusChange<T> = {
  readonly [F in keyof StatusOf<T>]?:
    | (F extends 'conditions' ? readonly ConditionChange[] : MergePatch<StatusOf<T>[F]>)
    | null
    | undefined;
};

type Fields = Readonly<Record<string, unknown>>;

export interface StatusPatch {
  readonly status: Fields;
  /** Conditions replace the whole list, so the write is a conflict if the list has changed since it was read. */
  readonly metadata?: { readonly resourceVersion: string };
}

export interface StatusFacts {
  readonly resourceVersion: string;
  readonly generation: number | undefined;
  readonly now: string;
}

/** The patch for the change. Undefined if the status already has these values. */
export function planStatusPatch(status: unknown, change: Fields, facts: StatusFacts): StatusPatch | undefined {
  const current = isFields(status) ? status : {};
  const patch: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(change)) {
    if (given === undefined) continue;
    const old = ownValue(current, name);
    const value = name === 'conditions' ? conditionsAfter(old, given, facts) : given;
    if (!isEqualJson(merged(old, value), old)) setOwn(patch, name, value);
  }
  if (Object.keys(patch).length === 0) return undefined;
  const { resourceVersion } = facts;
  return Object.hasOwn(patch, 'conditions') ? { status: patch, metadata: { resourceVersion } } : { status: patch };
}

function conditionsAfter(old: unknown, given: unknown, facts: StatusFacts): unknown {
  if (!Array.isArray(given)) return given;
  const existing = Array.isArray(old) ? (old as Condition[]) : []; // the server keeps to the schema
  return mergeConditions(existing, given as ConditionChange[], facts);
}

/** The value after a JSON merge patch. */
function merged(old: unknown, patch: unknown): unknown {
  if (patch === null) return undefined;
  if (!isFields(patch)) return patch;
  const result: Record<string, unknown> = isFields(old) ? { ...old } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value !== undefined) setOwn(result, name, merged(ownValue(result, name), value));
  }
  return result;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
