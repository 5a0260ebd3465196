import type { CronJob, Job, JobSpec } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { generatedLabels, validateJob, validateJobSpec, validateJobUpdate } from './job-validation.ts';
import { defineRules, invalidValue, notNegative, required, unsupported } from './rules.ts';
import { defaultTemplate } from './workloads.ts';

const maxInt32 = 2 ** 31 - 1;

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
    // Labels that the user has set stay: validation refuses them when they differ.
    spec.template.metadata.labels = { ...generatedLabels(uid, name), ...spec.template.metadata.labels };
    spec.selector = {
      ...spec.selector,
      matchLabels: { 'batch.kubernetes.io/controller-uid': uid, ...spec.selector?.matchLabels },
    };
    if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...spec.template.metadata.labels };
  },
  validate: validateJob,
  validateUpdate: validateJobUpdate,
});

function defaultJobTemplate(spec: JobSpec): void {
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True';
  }
  // A Job must set its restart policy: validation refuses Always, the default of templates.
  defaultTemplate(spec.template);
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
    errors.push(
      ...validateSchedule(spec.schedule),
      ...validateTimeZone(spec.timeZone),
      ...notNegative('spec.startingDeadlineSeconds', spec.startingDeadlineSeconds),
      ...notNegative('spec.successfulJobsHistoryLimit', spec.successfulJobsHistoryLimit),
      ...notNegative('spec.failedJobsHistoryLimit', spec.failedJobsHistoryLimit),
    );
    const policies = ['Allow', 'Forbid', 'Replace'];
    if (!policies.includes(spec.concurrencyPolicy ?? '')) {
      errors.push(unsupported('spec.concurrencyPolicy', spec.concurrencyPolicy, policies));
    }
    return [...errors, ...validateJobTemplate(spec.jobTemplate.spec)];
  },
});

function validateJobTemplate(spec: JobSpec | undefined): FieldError[] {
  const path = 'spec.jobTemplate.spec';
  if (spec === undefined) return [required(path)];
  const errors = validateJobSpec(spec, path);
  if (spec.selector !== undefined) {
    errors.push(invalidValue(`${path}.selector`, spec.selector, '`selector` will be auto-generated'));
  }
  if (spec.manualSelector === true) errors.push(unsupported(`${path}.manualSelector`, true, ['nil', 'false']));
  return errors;
}

/** Counts the fields of a schedule. The ranges within a field are left to the controller. */
function validateSchedule(schedule: string): FieldError[] {
  const field = 'spec.schedule';
  if (schedule === '') return [required(field)];
  if (schedule.includes('TZ')) {
    const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    return [invalidValue(field, schedule, detail)];
  }
  if (/^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every .+)$/.test(schedule)) return [];
  const parts = schedule.trim().split(/\s+/);
  if (parts.length === 5) return [];
  const detail = `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`;
  return [invalidValue(field, schedule, detail)];
}

function validateTimeZone(timeZone: string | undefined): FieldError[] {
  const field = 'spec.timeZone';
  if (timeZone === undefined) return [];
  if (timeZone === '') return [invalidValue(field, timeZone, 'timeZone must be nil or non-empty string')];
  if (timeZone.toLowerCase() === 'local') {
    const detail = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    return [invalidValue(field, timeZone, detail)];
  }
  return isTimeZone(timeZone) ? [] : [invalidValue(field, timeZone, `unknown time zone ${timeZone}`)];
}

function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z._0-9+-]*(\/[A-Za-z._0-9+-]+)*$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // the only thing that it throws for
  }
}
