import { copyOf, isEqualJson, ownValue, type Pod, type PodSpec } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { containersOf } from '../../pods/index.ts';
import { invalidValue } from './rules.ts';

const changeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Little of a pod's specification can change after its creation. */
export function validatePodUpdate({ spec }: Pod, { spec: old }: Pod): FieldError[] {
  for (const list of ['containers', 'initContainers'] as const) {
    if ((spec[list] ?? []).length === (old[list] ?? []).length) continue;
    return [{ type: 'Forbidden', field: `spec.${list}`, detail: 'pod updates may not add or remove containers' }];
  }
  return [
    ...validateDeadline(spec.activeDeadlineSeconds, old.activeDeadlineSeconds),
    ...validateTolerations(spec, old),
    ...validateGates(spec, old),
    ...validateRest(spec, old),
  ];
}

/** A deadline can be set or made shorter. */
function validateDeadline(deadline: number | undefined, old: number | undefined): FieldError[] {
  const field = 'spec.activeDeadlineSeconds';
  if (old === undefined) return [];
  if (deadline === undefined)
    return [invalidValue(field, null, 'must not update from a positive integer to nil value')];
  return deadline <= old ? [] : [invalidValue(field, deadline, 'must be less than or equal to previous value')];
}

function validateTolerations({ tolerations = [] }: PodSpec, { tolerations: old = [] }: PodSpec): FieldError[] {
  const isKept = old.every((before) =>
    tolerations.some((after) => isEqualJson({ ...after, tolerationSeconds: before.tolerationSeconds }, before)),
  );
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return isKept ? [] : [{ type: 'Forbidden', field: 'spec.tolerations', detail }];
}

function validateGates({ schedulingGates = [] }: PodSpec, { schedulingGates: old = [] }: PodSpec): FieldError[] {
  return schedulingGates.flatMap(({ name }, index): FieldError[] => {
    if (old.some((gate) => gate.name === name)) return [];
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [{ type: 'Forbidden', field: `spec.schedulingGates[${index}].name`, detail }];
  });
}

/** Compares the fields that no rule above allows to change. */
function validateRest(spec: PodSpec, old: PodSpec): FieldError[] {
  const images = containersOf(old).map(({ image }) => image);
  const next = copyOf(spec);
  for (const [index, container] of containersOf(next).entries()) container.image = images[index];
  next.activeDeadlineSeconds = old.activeDeadlineSeconds;
  next.tolerations = old.tolerations;
  next.schedulingGates = old.schedulingGates;
  const wasNegative = (old.terminationGracePeriodSeconds ?? 0) < 0;
  if (wasNegative && next.terminationGracePeriodSeconds === 1) {
    next.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  }
  const errors: FieldError[] = [];
  if ((old.schedulingGates ?? []).length > 0) {
    // The scheduler ignores a gated pod, so its node selection may still be narrowed.
    errors.push(...validateNodeSelector(next.nodeSelector, old.nodeSelector));
    next.nodeSelector = old.nodeSelector;
    next.affinity = { ...next.affinity, nodeAffinity: old.affinity?.nodeAffinity };
  }
  if (isEqualJson(next, old, { emptyIsAbsent: true })) return errors;
  return [...errors, { type: 'Forbidden', field: 'spec', detail: changeable }];
}

function validateNodeSelector(selector: PodSpec['nodeSelector'], old: PodSpec['nodeSelector'] = {}): FieldError[] {
  const isKept = Object.entries(old).every(([name, value]) => ownValue(selector, name) === value);
  const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return isKept ? [] : [invalidValue('spec.nodeSelector', selector ?? null, detail)];
}
