import type { JobSpec } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { qualifiedNameProblem } from './names.ts';
import { invalidValue, notNegative, required, unsupported } from './rules.ts';

type FailureRule = NonNullable<NonNullable<JobSpec['podFailurePolicy']>['rules']>[number];
type SuccessRule = NonNullable<NonNullable<JobSpec['successPolicy']>['rules']>[number];

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const statuses = ['False', 'True', 'Unknown'];

/** `containers` are the names that a rule may refer to. */
export function validateFailurePolicy(spec: JobSpec, path: string, containers: readonly string[]): FieldError[] {
  const hasIndexLimit = spec.backoffLimitPerIndex !== undefined;
  return (spec.podFailurePolicy?.rules ?? []).flatMap((rule, index) => {
    const field = `${path}.rules[${index}]`;
    return [
      ...validateAction(rule.action, `${field}.action`, hasIndexLimit),
      ...validateExitCodes(rule.onExitCodes, `${field}.onExitCodes`, containers),
      ...validateConditions(rule.onPodConditions, `${field}.onPodConditions`),
      ...validateRequirementCount(rule, field),
    ];
  });
}

function validateAction(action: string, field: string, hasIndexLimit: boolean): FieldError[] {
  if (action === 'FailIndex' && !hasIndexLimit) {
    return [invalidValue(field, action, 'requires the backoffLimitPerIndex to be set')];
  }
  return actions.includes(action) ? [] : [unsupported(field, action, actions)];
}

function validateRequirementCount({ onExitCodes, onPodConditions = [] }: FailureRule, field: string): FieldError[] {
  const hasCodes = onExitCodes !== undefined;
  const hasConditions = onPodConditions.length > 0;
  if (hasCodes !== hasConditions) return [];
  const detail = hasCodes
    ? 'specifying both OnExitCodes and OnPodConditions is not supported'
    : 'specifying one of OnExitCodes and OnPodConditions is required';
  return [{ type: 'Invalid', field, detail }];
}

function validateExitCodes(
  onExitCodes: FailureRule['onExitCodes'],
  path: string,
  containers: readonly string[],
): FieldError[] {
  if (onExitCodes === undefined) return [];
  const { operator, containerName } = onExitCodes;
  const values = onExitCodes.values ?? [];
  const errors: FieldError[] = [];
  const operators = ['In', 'NotIn'];
  if (!operators.includes(operator)) errors.push(unsupported(`${path}.operator`, operator, operators));
  if (containerName !== undefined && !containers.includes(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalidValue(`${path}.containerName`, containerName, detail));
  }
  if (values.length === 0) errors.push(invalidValue(`${path}.values`, values, 'at least one value is required'));
  for (const [index, value] of values.entries()) {
    const field = `${path}.values[${index}]`;
    if (operator === 'In' && value === 0) errors.push(invalidValue(field, value, 'must not be 0 for the In operator'));
    if (values.indexOf(value) < index) errors.push({ type: 'Duplicate', field, value, detail: '' });
  }
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? value) <= value);
  if (!isOrdered) errors.push(invalidValue(`${path}.values`, values, 'must be ordered'));
  return errors;
}

function validateConditions(patterns: FailureRule['onPodConditions'] = [], path: string): FieldError[] {
  return patterns.flatMap(({ type, status = '' }, index) => {
    const problem = qualifiedNameProblem(type);
    return [
      ...(problem === undefined ? [] : [invalidValue(`${path}[${index}].type`, type, problem)]),
      ...(statuses.includes(status) ? [] : [unsupported(`${path}[${index}].status`, status, statuses)]),
    ];
  });
}

export function validateSuccessPolicy({ successPolicy, completionMode, completions = 0 }: JobSpec, path: string) {
  if (successPolicy === undefined) return [];
  if (completionMode !== 'Indexed') return [invalidValue(path, successPolicy, 'requires indexed completion mode')];
  const rules = successPolicy.rules ?? [];
  if (rules.length === 0) {
    const detail = 'at least one rules must be specified when the successPolicy is specified';
    return [required(`${path}.rules`, detail)];
  }
  return rules.flatMap((rule, index) => validateSuccessRule(rule, `${path}.rules[${index}]`, completions));
}

function validateSuccessRule(rule: SuccessRule, path: string, completions: number): FieldError[] {
  const { succeededCount, succeededIndexes } = rule;
  if (succeededCount === undefined && succeededIndexes === undefined) {
    return [required(path, 'at least one of succeededCount or succeededIndexes must be specified')];
  }
  const field = `${path}.succeededCount`;
  if (succeededCount === undefined || succeededCount <= completions) return notNegative(field, succeededCount);
  const detail = `must be less than or equal to ${completions} (the number of specified completions)`;
  return [invalidValue(field, succeededCount, detail)];
}
