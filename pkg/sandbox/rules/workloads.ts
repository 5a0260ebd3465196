import {
  isEqualJson,
  type Deployment,
  type PodTemplateSpec,
  type ReplicaSet,
  type ReplicationController,
} from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { isZeroAmount, validateAmount, validateNotMoreThanAll } from './amounts.ts';
import { defaultPodSpec } from '../../pods/index.ts';
import { validateTemplate } from './pod-validation.ts';
import { defineRules, immutable, invalidValue, notNegative, required, unsupported } from './rules.ts';

export function defaultTemplate(template: PodTemplateSpec | undefined): void {
  if (template?.spec !== undefined) defaultPodSpec(template.spec);
}

export const sameSelector = (a: { spec: { selector?: unknown } }, b: { spec: { selector?: unknown } }): FieldError[] =>
  immutable('spec.selector', isEqualJson(a.spec.selector, b.spec.selector, { emptyIsAbsent: true }), a.spec.selector);

export const deploymentRules = defineRules<Deployment>({
  tracksGeneration: true,
  countsAnnotations: true,
  defaults({ spec }) {
    spec.replicas ??= 1;
    spec.strategy ??= {};
    spec.strategy.type ??= 'RollingUpdate';
    if (spec.strategy.type === 'RollingUpdate') {
      spec.strategy.rollingUpdate ??= {};
      spec.strategy.rollingUpdate.maxUnavailable ??= '25%';
      spec.strategy.rollingUpdate.maxSurge ??= '25%';
    }
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
    defaultTemplate(spec.template);
  },
  beforeStatusUpdate(deployment, old) {
    deployment.metadata.labels = old.metadata.labels;
  },
  validate: ({ spec }) => [
    ...validateTemplate(spec.template, spec.selector),
    ...notNegative('spec.replicas', spec.replicas),
    ...notNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...notNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
    ...validateDeadline(spec),
    ...validateStrategy(spec.strategy),
  ],
  validateUpdate: sameSelector,
  validateStatus: ({ status }, old) => [
    ...validateCounts(status),
    ...validateCollisionCount(status?.collisionCount, old.status?.collisionCount),
  ],
});

function validateDeadline({ progressDeadlineSeconds = 600, minReadySeconds = 0 }: Deployment['spec']): FieldError[] {
  if (progressDeadlineSeconds > minReadySeconds) return [];
  const field = 'spec.progressDeadlineSeconds';
  return [invalidValue(field, progressDeadlineSeconds, 'must be greater than minReadySeconds')];
}

function validateStrategy({ type, rollingUpdate }: NonNullable<Deployment['spec']['strategy']> = {}): FieldError[] {
  const field = 'spec.strategy';
  if (type === 'Recreate') {
    if (rollingUpdate === undefined) return [];
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    return [{ type: 'Forbidden', field: `${field}.rollingUpdate`, detail }];
  }
  if (type !== 'RollingUpdate') return [unsupportedStrategy(field, type, ['Recreate', 'RollingUpdate'])];
  const { maxSurge, maxUnavailable } = rollingUpdate ?? {};
  const unavailable = `${field}.rollingUpdate.maxUnavailable`;
  const cannotProgress = isZeroAmount(maxSurge) && isZeroAmount(maxUnavailable);
  return [
    ...validateAmount(unavailable, maxUnavailable),
    ...validateAmount(`${field}.rollingUpdate.maxSurge`, maxSurge),
    ...(cannotProgress ? [invalidValue(unavailable, maxUnavailable, 'may not be 0 when `maxSurge` is 0')] : []),
    ...validateNotMoreThanAll(unavailable, maxUnavailable),
  ];
}

/** Go prints its internal strategy, whose fields are capitalized. */
export function unsupportedStrategy(field: string, type: string | undefined, supported: readonly string[]): FieldError {
  return unsupported(field, { Type: type, RollingUpdate: null }, supported);
}

type ReplicaCounts = Partial<
  Record<
    'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas' | 'fullyLabeledReplicas',
    number | undefined
  >
>;

/** Validates the counts that the statuses of ReplicaSets and Deployments have in common. */
function validateCounts(status: ReplicaCounts = {}): FieldError[] {
  const parts = ['updatedReplicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const errors = (['replicas', ...parts] as const).flatMap((name) => notNegative(`status.${name}`, status[name]));
  for (const name of parts) {
    const count = status[name] ?? 0;
    if (count > replicas) errors.push(invalidValue(`status.${name}`, count, 'cannot be greater than status.replicas'));
  }
  if (availableReplicas > readyReplicas) {
    const detail = 'cannot be greater than readyReplicas';
    errors.push(invalidValue('status.availableReplicas', availableReplicas, detail));
  }
  return errors;
}

export function validateCollisionCount(count: number | undefined, old: number | undefined): FieldError[] {
  const isDecremented = old !== undefined && (count === undefined || count < old);
  return isDecremented ? [invalidValue('status.collisionCount', count ?? 0, 'cannot be decremented')] : [];
}

export const replicaSetRules = defineRules<ReplicaSet>({
  tracksGeneration: true,
  defaults({ spec }) {
    spec.replicas ??= 1;
    defaultTemplate(spec.template);
  },
  validate: ({ spec }) => [
    ...validateTemplate(spec.template ?? {}, spec.selector),
    ...notNegative('spec.replicas', spec.replicas),
    ...notNegative('spec.minReadySeconds', spec.minReadySeconds),
  ],
  validateUpdate: sameSelector,
  validateStatus: ({ status }) => validateCounts(status),
});

export const replicationControllerRules = defineRules<ReplicationController>({
  tracksGeneration: true,
  orphansByDefault: true,
  defaults({ metadata, spec }) {
    spec.replicas ??= 1;
    const labels = spec.template?.metadata?.labels;
    if (labels !== undefined) {
      spec.selector ??= { ...labels };
      metadata.labels ??= { ...labels };
    }
    defaultTemplate(spec.template);
  },
  validate({ spec }) {
    if (spec.template === undefined) return [required('spec.template')];
    const selector = spec.selector === undefined ? undefined : { matchLabels: spec.selector };
    return [
      ...validateTemplate(spec.template, selector, 'ReplicationController'),
      ...notNegative('spec.replicas', spec.replicas),
      ...notNegative('spec.minReadySeconds', spec.minReadySeconds),
    ];
  },
});
