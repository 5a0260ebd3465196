import { isEqualJson, parseTime, copyOf, type CronJob, type Job, type JobSpec } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { validatePodSpec } from './pod-validation.ts';
import { defineRules, immutable, invalidValue, notNegative, required, unsupported } from './rules.ts';
import { defaultTemplate } from './workloads.ts';

const maxInt32 = 2 ** 31 - 1;
const prefix = 'batch.kubernetes.io/';

export const jobRules = defineRules<Job>({
  tracksGeneration: true,
  orphansByDefault: true,
  defaults({ metadata, spec }) {
    if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
    spec.parallelism ??= 1;
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : maxInt32;
    const labels = spec.template.metadata?.labels;
    if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
    spec.completionMode ??= 'NonIndexed';
    spec.suspend ??= false;
    spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
    spec.manualSelector ??= false;
    defaultJobTemplate(spec);
  },
  beforeCreate({ metadata, spec }) {
    if (spec.manualSelector === true) return;
    const { uid, name } = metadata;
    spec.template.metadata ??= {};
    spec.template.metadata.labels = {
      ...spec.template.metadata.labels,
      'controller-uid': uid,
      'job-name': name,
      [`${prefix}controller-uid`]: uid,
      [`${prefix}job-name`]: name,
    };
    spec.selector = { matchLabels: { ...spec.selector?.matchLabels, [`${prefix}controller-uid`]: uid } };
    // Whoever reads the Job finds it labelled as its pods are.
    if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...spec.template.metadata.labels };
  },
  validate: ({ spec }) => validateJobSpec(spec, 'spec'),
  validateUpdate: ({ spec }, { spec: old, status }) => [
    ...(spec.completionMode === 'Indexed'
      ? []
      : immutable('spec.completions', spec.completions === old.completions, spec.completions)),
    ...immutable('spec.selector', isEqualJson(spec.selector, old.selector), spec.selector),
    ...immutable('spec.completionMode', spec.completionMode === old.completionMode, spec.completionMode),
    ...immutable('spec.podFailurePolicy', isEqualJson(spec.podFailurePolicy, old.podFailurePolicy), null),
    ...immutable('spec.backoffLimitPerIndex', spec.backoffLimitPerIndex === old.backoffLimitPerIndex, null),
    ...validateTemplateChange(spec, old, parseTime(status?.startTime) !== undefined),
  ],
});

/** While a job is suspended and has not started, what decides where its pods go may still change. */
function validateTemplateChange(spec: JobSpec, old: JobSpec, hasStarted: boolean): FieldError[] {
  const rewritten = copyOf(spec.template);
  if (old.suspend === true && !hasStarted && rewritten.spec !== undefined && old.template.spec !== undefined) {
    const { nodeSelector, affinity, tolerations, schedulingGates } = old.template.spec;
    Object.assign(rewritten.spec, { nodeSelector, affinity, tolerations, schedulingGates });
    rewritten.metadata = old.template.metadata;
  }
  const isSame = isEqualJson(rewritten, old.template, { emptyIsAbsent: true });
  return immutable('spec.template', isSame, spec.template);
}

function defaultJobTemplate(spec: JobSpec): void {
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ??= 'True';
  }
  // The policy must be said: the default of pods is none that a job could have.
  defaultTemplate(spec.template);
}

function validateJobSpec(spec: JobSpec, path: string): FieldError[] {
  const { template, completionMode, completions } = spec;
  const errors = [
    ...notNegative(`${path}.parallelism`, spec.parallelism),
    ...notNegative(`${path}.completions`, completions),
    ...notNegative(`${path}.activeDeadlineSeconds`, spec.activeDeadlineSeconds),
    ...notNegative(`${path}.backoffLimit`, spec.backoffLimit),
    ...notNegative(`${path}.ttlSecondsAfterFinished`, spec.ttlSecondsAfterFinished),
  ];
  if (completionMode === 'Indexed' && completions === undefined) {
    errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  }
  if (template.spec === undefined) return [...errors, required(`${path}.template.spec.containers`)];
  const { restartPolicy } = template.spec;
  const field = `${path}.template.spec.restartPolicy`;
  if (restartPolicy !== 'OnFailure' && restartPolicy !== 'Never') {
    errors.push(
      restartPolicy === 'Always'
        ? unsupported(field, restartPolicy, ['OnFailure', 'Never'])
        : required(field, 'valid values: "OnFailure", "Never"'),
    );
  }
  return [...errors, ...validatePodSpec(template.spec, `${path}.template.spec`)];
}

export const cronJobRules = defineRules<CronJob>({
  tracksGeneration: true,
  defaults({ spec }) {
    spec.concurrencyPolicy ??= 'Allow';
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    if (spec.jobTemplate.spec !== undefined) defaultJobTemplate(spec.jobTemplate.spec);
  },
  validate({ metadata, spec }) {
    const errors: FieldError[] = [];
    if (metadata.name.length > 52) {
      errors.push(invalidValue('metadata.name', metadata.name, 'must be no more than 52 characters'));
    }
    if (spec.schedule === '') errors.push(required('spec.schedule'));
    else if (!isSchedule(spec.schedule)) {
      errors.push(invalidValue('spec.schedule', spec.schedule, 'expected exactly 5 fields'));
    }
    const policies = ['Allow', 'Forbid', 'Replace'];
    if (!policies.includes(spec.concurrencyPolicy ?? '')) {
      errors.push(unsupported('spec.concurrencyPolicy', spec.concurrencyPolicy, policies));
    }
    if (spec.jobTemplate.spec === undefined) return [...errors, required('spec.jobTemplate.spec')];
    return [...errors, ...validateJobSpec(spec.jobTemplate.spec, 'spec.jobTemplate.spec')];
  },
});

function isSchedule(text: string): boolean {
  return (
    /^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every .+)$/.test(text) ||
    text.trim().split(/\s+/).length === 5
  );
}
