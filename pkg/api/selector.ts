import type { Cached } from './cached.ts';
import { goJson } from './go-json.ts';
import { labelKeyProblems, labelValueProblems } from './names.ts';
import type { LabelSelector } from './objects.ts';
import { ownValue } from './own.ts';

export type Labels = Readonly<Record<string, string>>;

/** Whether a set of labels matches. Compile a selector once and call it for every object. */
export type Selector = (labels: Labels | undefined) => boolean;

export class InvalidSelectorError extends Error {
  override readonly name = 'InvalidSelectorError';
  readonly reason = 'InvalidSelector';
}

const noLabels: Labels = {};

/** Matches objects that have all of these labels. An empty set matches every object. */
export function selectorFromSet(set: Labels): Selector {
  const wanted = Object.entries(set);
  return (labels = noLabels) => wanted.every(([name, value]) => ownValue(labels, name) === value);
}

/**
 * Compiles a LabelSelector by the rules of the API: an absent selector matches no object, an empty one matches every
 * object. Throws `InvalidSelectorError` on a selector that the API would reject.
 */
export function compileSelector(selector: Cached<LabelSelector> | undefined): Selector {
  if (selector === undefined) return () => false;
  const matchesLabels = selectorFromSet(selector.matchLabels ?? {});
  const requirements = (selector.matchExpressions ?? []).map(compileRequirement);
  return (labels = noLabels) => matchesLabels(labels) && requirements.every((requirement) => requirement(labels));
}

/** Whether the selector matches every object. Most controllers refuse to act on such a selector. */
export function isEmptySelector(selector: Cached<LabelSelector> | undefined): boolean {
  return (
    selector !== undefined &&
    Object.keys(selector.matchLabels ?? {}).length === 0 &&
    (selector.matchExpressions ?? []).length === 0
  );
}

type Requirement = NonNullable<Cached<LabelSelector>['matchExpressions']>[number];

/** `values` may be null where a selector is stored as plain JSON, as in a custom resource. */
function compileRequirement({ key, operator, values: given }: Requirement): (labels: Labels) => boolean {
  const values = given ?? [];
  switch (operator) {
    case 'In':
    case 'NotIn': {
      if (values.length === 0)
        throw new InvalidSelectorError(`selector on ${key}: ${operator} needs at least one value`);
      const listed = new Set(values);
      const isListed = (labels: Labels): boolean => Object.hasOwn(labels, key) && listed.has(labels[key] ?? '');
      return operator === 'In' ? isListed : (labels) => !isListed(labels);
    }
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) throw new InvalidSelectorError(`selector on ${key}: ${operator} takes no values`);
      return (labels) => Object.hasOwn(labels, key) === (operator === 'Exists');
    default:
      throw new InvalidSelectorError(`selector on ${key}: ${JSON.stringify(operator)} is not an operator`);
  }
}

/**
 * Throws `InvalidSelectorError`, with Go's message, on a selector whose labels or operators are invalid. For selectors that
 * the API server stores without looking, such as those of metrics: their text form could select something else.
 */
export function checkSelector({ matchLabels, matchExpressions }: Cached<LabelSelector>): void {
  for (const [key, value] of Object.entries(matchLabels ?? {})) refuse(requirementProblem(key, 'In', [value]));
  for (const { key, operator, values } of matchExpressions ?? []) {
    const isKnown = ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator);
    refuse(isKnown ? undefined : `${JSON.stringify(operator)} is not a valid label selector operator`);
    refuse(requirementProblem(key, operator, values ?? []));
  }
}

/** What is wrong with a requirement, in Go's words. */
export function requirementProblem(key: string, operator: string, values: readonly string[]): string | undefined {
  const problems: string[] = [];
  const report = (field: string, value: unknown, why: string): void => {
    const problem = `${field}: Invalid value: ${goJson(value)}: ${why}`;
    if (!problems.includes(problem)) problems.push(problem);
  };
  const keyProblems = labelKeyProblems(key);
  if (keyProblems.length > 0) report('key', key, keyProblems.join('; '));
  const needsValues = operator === 'In' || operator === 'NotIn';
  if (needsValues && values.length === 0) {
    report('values', null, "for 'in', 'notin' operators, values set can't be empty");
  }
  if (!needsValues && values.length > 0) {
    report('values', [...values], 'values set must be empty for exists and does not exist');
  }
  for (const [index, value] of values.entries()) {
    const valueProblems = labelValueProblems(value);
    if (valueProblems.length > 0) report(`values[${index}][${key}]`, value, valueProblems.join('; '));
  }
  return problems.length > 1 ? `[${problems.join(', ')}]` : problems[0];
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new InvalidSelectorError(problem);
}

/** The text form for the `labelSelector` parameter of list and watch. */
export function formatSelector(selector: Cached<LabelSelector>): string {
  const labels = Object.entries(selector.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`);
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values }) => {
    switch (operator) {
      case 'In':
        return `${key} in (${(values ?? []).join(',')})`;
      case 'NotIn':
        return `${key} notin (${(values ?? []).join(',')})`;
      case 'Exists':
        return key;
      default:
        return `!${key}`;
    }
  });
  return [...labels, ...expressions].join(',');
}
