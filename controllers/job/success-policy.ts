import type { Cached, JobSpec } from '../../pkg/api/index.ts';
import { countIndexes, intersectionOf, parseIndexList, type IndexList } from './index-list.ts';

type Policy = Cached<NonNullable<JobSpec['successPolicy']>>;
type Rule = NonNullable<Policy['rules']>[number];

/** The message for the first rule that the succeeded indexes meet; undefined if they meet none. */
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
  if (required.length === 0) return false; // an invalid list matches no indexes, not all of them
  const met = countIndexes(intersectionOf(required, succeeded));
  return met === countIndexes(required) || (succeededCount !== undefined && met >= succeededCount);
}
