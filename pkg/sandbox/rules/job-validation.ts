import {
  compileSelector,
  copyOf,
  isConditionTrue,
  isEqualJson,
  ownValue,
  parseTime,
  type Job,
  type JobSpec,
} from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { validateFailurePolicy, validateSuccessPolicy } from './job-policies.ts';
import { validateLabelSelector } from './label-selectors.ts';
import { labelProblem } from './names.ts';
import { containersOf } from '../../pods/index.ts';
import { validatePodSpec } from './pod-validation.ts';
import { immutable, invalidValue, notNegative, required, unsupported } from './rules.ts';

/** Limits of indexed Jobs: the controller keeps a record of every index. */
const maxIndexes = 100_000;
const maxWithManyCompletions = 10_000;

/** The labels that the server sets on the template, unless the Job has a selector of its own. */
export function generatedLabels(uid: string, name: string): Record<string, string> {
  const prefix = 'batch.kubernetes.io/';
  return {
    'controller-uid': uid,
    'job-name': name,
    [`${prefix}controller-uid`]: uid,
    [`${prefix}job-name`]: name,
  };
}

export function validateJob(job: Job): FieldError[] {
  const { metadata, spec } = job;
  const errors = [...validateGeneratedLabels(job), ...validateJobSpec(spec, 'spec'), ...validateSelector(spec)];
  const { completionMode, completions = 0 } = spec;
  const hostname = `${metadata.name}-${completions - 1}`;
  if (completionMode === 'Indexed' && completions > 0 && labelProblem(hostname) !== undefined) {
    const detail = `will not able to create pod with invalid DNS label: ${hostname}`;
    errors.push(invalidValue('metadata.name', metadata.name, detail));
  }
  return errors;
}

function validateGeneratedLabels({ metadata, spec }: Job): FieldError[] {
  if (spec.manualSelector === true) return [];
  const labels = spec.template.metadata?.labels;
  const wanted = generatedLabels(metadata.uid, metadata.name);
  return Object.entries(wanted).flatMap(([name, value]) => {
    const actual = ownValue(labels, name);
    if (actual === value) return [];
    const field = `spec.template.metadata.labels[${name}]`;
    const detail = `must be '${value}'`;
    return [actual === undefined ? required(field, detail) : invalidValue(field, labels, detail)];
  });
}

function validateSelector({ selector, template }: JobSpec): FieldError[] {
  if (selector === undefined) return [required('spec.selector')];
  const problems = validateLabelSelector(selector, 'spec.selector');
  const labels = template.metadata?.labels;
  if (problems.length > 0 || compileSelector(selector)(labels)) return problems;
  const detail = '`selector` does not match template `labels`';
  return [invalidValue('spec.template.metadata.labels', labels ?? null, detail)];
}

/** Validates the part of a specification that a Job and the template of a CronJob share. */
export function validateJobSpec(spec: JobSpec, path: string): FieldError[] {
  const errors = [
    ...notNegative(`${path}.parallelism`, spec.parallelism),
    ...notNegative(`${path}.completions`, spec.completions),
    ...notNegative(`${path}.activeDeadlineSeconds`, spec.activeDeadlineSeconds),
    ...notNegative(`${path}.backoffLimit`, spec.backoffLimit),
    ...notNegative(`${path}.ttlSecondsAfterFinished`, spec.ttlSecondsAfterFinished),
    ...notNegative(`${path}.backoffLimitPerIndex`, spec.backoffLimitPerIndex),
    ...notNegative(`${path}.maxFailedIndexes`, spec.maxFailedIndexes),
    ...validateIndexes(spec, path),
    ...validateReplacement(spec, path),
  ];
  if (spec.template.spec === undefined) return [...errors, required(`${path}.template.spec.containers`)];
  const containers = containersOf(spec.template.spec).map(({ name }) => name);
  return [
    ...errors,
    ...validateFailurePolicy(spec, `${path}.podFailurePolicy`, containers),
    ...validateSuccessPolicy(spec, `${path}.successPolicy`),
    ...validatePodSpec(spec.template.spec, `${path}.template.spec`),
    ...validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`),
  ];
}

function validateIndexes(spec: JobSpec, path: string): FieldError[] {
  const { completionMode = 'NonIndexed', backoffLimitPerIndex, maxFailedIndexes } = spec;
  const errors: FieldError[] = [];
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  if (completionMode === 'Indexed') return [...errors, ...validateIndexed(spec, path)];
  if (completionMode !== 'NonIndexed') {
    return [...errors, unsupported(`${path}.completionMode`, completionMode, ['NonIndexed', 'Indexed'])];
  }
  const detail = 'requires indexed completion mode';
  for (const [name, value] of Object.entries({ backoffLimitPerIndex, maxFailedIndexes })) {
    if (value !== undefined) errors.push(invalidValue(`${path}.${name}`, value, detail));
  }
  return errors;
}

function validateIndexed(spec: JobSpec, path: string): FieldError[] {
  const { completions, parallelism = 1, backoffLimitPerIndex, maxFailedIndexes } = spec;
  const errors: FieldError[] = [];
  const refuse = (name: 'parallelism' | 'maxFailedIndexes', detail: string): void => {
    errors.push(invalidValue(`${path}.${name}`, spec[name], `must be less than or equal to ${detail}`));
  };
  if (completions === undefined) errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  if (parallelism > maxIndexes) refuse('parallelism', `${maxIndexes} when completion mode is Indexed`);
  if (completions !== undefined && (maxFailedIndexes ?? 0) > completions) refuse('maxFailedIndexes', 'completions');
  if ((maxFailedIndexes ?? 0) > maxIndexes) refuse('maxFailedIndexes', String(maxIndexes));
  if ((completions ?? 0) <= maxIndexes || backoffLimitPerIndex === undefined) return errors;
  const many = `${maxWithManyCompletions} when completions are above ${maxIndexes} and used with backoff limit per index`;
  if (maxFailedIndexes === undefined) {
    errors.push(required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${maxIndexes}`));
  }
  if (parallelism > maxWithManyCompletions) refuse('parallelism', many);
  if ((maxFailedIndexes ?? 0) > maxWithManyCompletions) refuse('maxFailedIndexes', many);
  return errors;
}

function validateReplacement({ podReplacementPolicy, podFailurePolicy }: JobSpec, path: string): FieldError[] {
  const supported = podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  if (podReplacementPolicy === undefined || supported.includes(podReplacementPolicy)) return [];
  return [unsupported(`${path}.podReplacementPolicy`, podReplacementPolicy, supported)];
}

function validateRestartPolicy({ template, podFailurePolicy }: JobSpec, field: string): FieldError[] {
  const { restartPolicy = '' } = template.spec ?? {};
  if (restartPolicy === 'Always' || restartPolicy === '') {
    return [required(field, 'valid values: "OnFailure", "Never"')];
  }
  if (restartPolicy !== 'OnFailure' && restartPolicy !== 'Never') {
    return [unsupported(field, restartPolicy, ['OnFailure', 'Never'])];
  }
  if (podFailurePolicy === undefined || restartPolicy === 'Never') return [];
  return [invalidValue(field, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified')];
}

export function validateJobUpdate({ spec }: Job, old: Job): FieldError[] {
  const fixed = ['podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'] as const;
  return [
    ...validateCompletions(spec, old.spec),
    ...immutable('spec.selector', isEqualJson(spec.selector, old.spec.selector), spec.selector),
    ...validateTemplateUpdate(spec, old),
    ...immutable('spec.completionMode', spec.completionMode === old.spec.completionMode, spec.completionMode),
    ...fixed.flatMap((name) => immutable(`spec.${name}`, isEqualJson(spec[name], old.spec[name]), spec[name] ?? null)),
  ];
}

/** Completions can only change in an indexed Job, and only together with parallelism. */
function validateCompletions(spec: JobSpec, old: JobSpec): FieldError[] {
  const { completions } = spec;
  if (completions === old.completions) return [];
  if (spec.completionMode !== 'Indexed') return immutable('spec.completions', false, completions ?? null);
  if (completions === undefined || completions === spec.parallelism) return [];
  return [invalidValue('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}

/** While a Job is suspended and has no pods, its scheduling directives and its resources may change. */
function validateTemplateUpdate(spec: JobSpec, old: Job): FieldError[] {
  const next = copyOf(spec.template);
  const { template } = old.spec;
  const isMutable = next.spec !== undefined && template.spec !== undefined && isStopped(old);
  if (isMutable && next.spec !== undefined && template.spec !== undefined) {
    const { nodeSelector, tolerations, schedulingGates, affinity } = template.spec;
    const nodeAffinity = { ...next.spec.affinity, nodeAffinity: affinity?.nodeAffinity };
    Object.assign(next.spec, { nodeSelector, tolerations, schedulingGates, affinity: nodeAffinity });
    next.metadata = template.metadata;
    const before = containersOf(template.spec);
    for (const [index, container] of containersOf(next.spec).entries()) {
      const previous = before[index];
      if (previous?.name === container.name) container.resources = previous.resources;
    }
  }
  const isSame = isEqualJson(next, template, { emptyIsAbsent: true });
  return isMutable
    ? immutable('spec.template.spec', isSame, spec.template.spec)
    : immutable('spec.template', isSame, spec.template);
}

function isStopped({ spec, status = {} }: Job): boolean {
  const hasNotStarted = parseTime(status.startTime) === undefined;
  const isSuspended = hasNotStarted || isConditionTrue(status.conditions, 'Suspended');
  return spec.suspend === true && isSuspended && (status.active ?? 0) === 0;
}
