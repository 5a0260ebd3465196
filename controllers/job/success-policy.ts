import type { Cached, JobSpec } from '../../pkg/api/index.ts';
import { countIndexes, intersectionOf, parseIndexList, type IndexList } from './index-list.ts';

type Policy = Cached<NonNullable<JobSpec['successPolicy']>>;
type Rule = NonNullable<Policy['rules']>[number];

/** Which rule of the policy the succeeded indexes meet, in the words of the Job's condition; undefined if none. */
export function describeSuccess(
  policy: Policy | undefined,
  succeeded: IndexList,
  completions: number,
): string | undefined {
  if (succeeded.length === 0) return undefined;
  const position = policy?.rules?.findIndex((rule) => isMet(rule, succeeded, completions)) ?? -1;
  return position < 0 ? undefined : `Matched rules at index ${String(position)}`;
}

function isMet({ succeededIndexes, succeededCount }: Rule, succeeded: IndexList, completions: number): boolean {
  if (succeededIndexes === undefined) {
    return succeededCount !== undefined && countIndexes(succeeded) >= succeededCount;
  }
  const required = parseIndexList(succeededIndexes, completions);
  if (required.length === 0) return false; // unreadable, and not a rule that everything meets
  const met = countIndexes(intersectionOf(required, succeeded));
  return met === countIndexes(required) || (succeededCount !== undefined && met >= succeededCount);
}
