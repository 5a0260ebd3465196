import type { LabelSelector } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { validateLabels } from './metadata.ts';
import { labelValueProblem, qualifiedNameProblem } from './names.ts';
import { invalidValue, required } from './rules.ts';

export function validateLabelSelector(selector: LabelSelector | undefined, path: string): FieldError[] {
  const expressions = selector?.matchExpressions ?? [];
  return [
    ...validateLabels(selector?.matchLabels, `${path}.matchLabels`),
    ...expressions.flatMap((each, index) => validateRequirement(each, `${path}.matchExpressions[${index}]`)),
  ];
}

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

function validateRequirement({ key, operator, values = [] }: Requirement, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    const detail = "must be specified when `operator` is 'In' or 'NotIn'";
    if (values.length === 0) errors.push(required(`${path}.values`, detail));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (values.length > 0) errors.push({ type: 'Forbidden', field: `${path}.values`, detail });
  } else errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
  const keyProblem = qualifiedNameProblem(key);
  if (keyProblem !== undefined) errors.push(invalidValue(`${path}.key`, key, keyProblem));
  for (const [index, value] of values.entries()) {
    const problem = labelValueProblem(value);
    if (problem !== undefined) errors.push(invalidValue(`${path}.values[${index}]`, value, problem));
  }
  return errors;
}
