import { keyOf, type Cached, type JobSpec, type Pod } from '../../pkg/api/index.ts';

type Policy = Cached<NonNullable<JobSpec['podFailurePolicy']>>;
type Rule = NonNullable<Policy['rules']>[number];
type ExitCodes = NonNullable<Rule['onExitCodes']>;
type PodConditions = NonNullable<Rule['onPodConditions']>;

/** The result of the pod failure policy for one failed pod. */
export type FailureVerdict =
  /** No rule matched: the failure counts towards the backoff limit. */
  | { readonly action: undefined }
  | { readonly action: 'Count' | 'Ignore' | 'FailIndex' }
  | { readonly action: 'FailJob'; readonly message: string };

/** The first rule that matches a failed pod decides. */
export function judgeFailure(policy: Policy | undefined, pod: Cached<Pod>): FailureVerdict {
  for (const [position, rule] of (policy?.rules ?? []).entries()) {
    const match = describeMatch(rule, pod);
    if (match === undefined) continue;
    switch (rule.action) {
      case 'Ignore':
      case 'Count':
      case 'FailIndex':
        return { action: rule.action };
      case 'FailJob':
        return { action: 'FailJob', message: `${match} matching FailJob rule at index ${String(position)}` };
      default: // ignore rules with an unknown action of a later version
    }
  }
  return { action: undefined };
}

export function countsAsFailure({ action }: FailureVerdict): boolean {
  return action !== 'Ignore';
}

/** The message that describes the match; undefined if the rule does not match. */
function describeMatch({ onExitCodes, onPodConditions }: Rule, pod: Cached<Pod>): string | undefined {
  if (onExitCodes !== undefined) return describeExit(onExitCodes, pod);
  return onPodConditions === undefined ? undefined : describeCondition(onPodConditions, pod);
}

function describeExit({ containerName, operator, values }: ExitCodes, pod: Cached<Pod>): string | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const listed = values ?? [];
  for (const { name, state } of [...containerStatuses, ...initContainerStatuses]) {
    const exitCode = state?.terminated?.exitCode ?? 0; // running or succeeded containers do not match
    if (exitCode === 0 || (containerName !== undefined && containerName !== name)) continue;
    const matches = operator === 'In' ? listed.includes(exitCode) : operator === 'NotIn' && !listed.includes(exitCode);
    if (matches) return `Container ${name} for pod ${keyOf(pod)} failed with exit code ${String(exitCode)}`;
  }
  return undefined;
}

function describeCondition(patterns: PodConditions, pod: Cached<Pod>): string | undefined {
  const matching = pod.status?.conditions?.find(({ type, status }) =>
    patterns.some((pattern) => pattern.type === type && (pattern.status ?? 'True') === status),
  );
  return matching === undefined ? undefined : `Pod ${keyOf(pod)} has condition ${matching.type}`;
}
