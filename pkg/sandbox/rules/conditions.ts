import { parseTime } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { qualifiedNameProblem } from './names.ts';
import { invalidValue, required, unsupported } from './rules.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number | undefined;
  readonly lastTransitionTime?: string | null | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

const statuses = ['False', 'True', 'Unknown'];
const reasonForm = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const reasonProblem =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const maxReasonBytes = 1024;
const maxMessageBytes = 32 * 1024;

/** The conditions that newer kinds share, `metav1.Condition`. */
export function validateConditions(conditions: readonly Condition[] | null | undefined, path: string): FieldError[] {
  const types = new Set<string>();
  return (conditions ?? []).flatMap((condition, index) => {
    const { type } = condition;
    const field = `${path}[${index}]`;
    const duplicate: FieldError[] = types.has(type)
      ? [{ type: 'Duplicate', field: `${field}.type`, value: type, detail: '' }]
      : [];
    types.add(type);
    return [...duplicate, ...validateCondition(condition, field)];
  });
}

function validateCondition(condition: Condition, path: string): FieldError[] {
  const { type, status, observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition;
  const errors: FieldError[] = [];
  const typeProblem = qualifiedNameProblem(type);
  if (typeProblem !== undefined) errors.push(invalidValue(`${path}.type`, type, typeProblem));
  if (!statuses.includes(status)) errors.push(unsupported(`${path}.status`, status, statuses));
  if (observedGeneration < 0) {
    const detail = 'must be greater than or equal to zero';
    errors.push(invalidValue(`${path}.observedGeneration`, observedGeneration, detail));
  }
  if (parseTime(lastTransitionTime) === undefined) errors.push(required(`${path}.lastTransitionTime`));
  if (reason === '') errors.push(required(`${path}.reason`));
  else if (!reasonForm.test(reason)) errors.push(invalidValue(`${path}.reason`, reason, reasonProblem));
  for (const [name, text, most] of [
    ['reason', reason, maxReasonBytes],
    ['message', message, maxMessageBytes],
  ] as const) {
    const detail = `may not be more than ${most} bytes`;
    if (Buffer.byteLength(text) > most) errors.push({ type: 'TooLong', field: `${path}.${name}`, detail });
  }
  return errors;
}
