import {
  isEqualJson,
  type DaemonSet,
  type Deployment,
  type PodTemplateSpec,
  type ReplicaSet,
  type ReplicationController,
  type StatefulSet,
} from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { validateTemplate } from './pod-validation.ts';
import { defineRules, immutable, invalidValue, notNegative, required, unsupported } from './rules.ts';

export function defaultTemplate(template: PodTemplateSpec | undefined): void {
  if (template?.spec !== undefined) defaultPodSpec(template.spec);
}

const sameSelector = (a: { spec: { selector?: unknown } }, b: { spec: { selector?: unknown } }): FieldError[] =>
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
});

function validateDeadline({ progressDeadlineSeconds = 600, minReadySeconds = 0 }: Deployment['spec']): FieldError[] {
  if (progressDeadlineSeconds > minReadySeconds) return [];
  const field = 'spec.progressDeadlineSeconds';
  return [invalidValue(field, progressDeadlineSeconds, 'must be greater than minReadySeconds')];
}

function validateStrategy(strategy: Deployment['spec']['strategy'] = {}): FieldError[] {
  const { type, rollingUpdate } = strategy;
  if (type === 'Recreate') {
    if (rollingUpdate === undefined) return [];
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    return [{ type: 'Forbidden', field: 'spec.strategy.rollingUpdate', detail }];
  }
  if (type !== 'RollingUpdate') return [unsupported('spec.strategy.type', type, ['Recreate', 'RollingUpdate'])];
  const isZero = (value: number | string | undefined): boolean => value === 0 || value === '0%';
  const { maxSurge, maxUnavailable } = rollingUpdate ?? {};
  if (!isZero(maxSurge) || !isZero(maxUnavailable)) return [];
  const field = 'spec.strategy.rollingUpdate.maxUnavailable';
  return [invalidValue(field, maxUnavailable, 'may not be 0 when `maxSurge` is 0')];
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
    return [...validateTemplate(spec.template, selector), ...notNegative('spec.replicas', spec.replicas)];
  },
});

export const daemonSetRules = defineRules<DaemonSet>({
  tracksGeneration: true,
  defaults({ spec }) {
    spec.updateStrategy ??= {};
    spec.updateStrategy.type ??= 'RollingUpdate';
    if (spec.updateStrategy.type === 'RollingUpdate') {
      spec.updateStrategy.rollingUpdate ??= {};
      spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1;
      spec.updateStrategy.rollingUpdate.maxSurge ??= 0;
    }
    spec.revisionHistoryLimit ??= 10;
    defaultTemplate(spec.template);
  },
  validate: ({ spec }) => validateTemplate(spec.template, spec.selector),
  validateUpdate: sameSelector,
});

export const statefulSetRules = defineRules<StatefulSet>({
  tracksGeneration: true,
  defaults({ spec }) {
    spec.podManagementPolicy ??= 'OrderedReady';
    spec.updateStrategy ??= {};
    spec.updateStrategy.type ??= 'RollingUpdate';
    if (spec.updateStrategy.type === 'RollingUpdate') {
      spec.updateStrategy.rollingUpdate ??= {};
      spec.updateStrategy.rollingUpdate.partition ??= 0;
    }
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= 'Retain';
    spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= 'Retain';
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    for (const claim of spec.volumeClaimTemplates ?? []) {
      if (claim.spec !== undefined) claim.spec.volumeMode ??= 'Filesystem';
      claim.status = { phase: 'Pending' };
    }
    defaultTemplate(spec.template);
  },
  validate: ({ spec }) => [
    ...validateTemplate(spec.template, spec.selector),
    ...notNegative('spec.replicas', spec.replicas),
  ],
  validateUpdate(next, old) {
    const fixed = ({ spec }: StatefulSet): unknown => {
      const { serviceName, podManagementPolicy, volumeClaimTemplates, selector } = spec;
      return { serviceName, podManagementPolicy, volumeClaimTemplates, selector };
    };
    if (isEqualJson(fixed(next), fixed(old), { emptyIsAbsent: true })) return [];
    const detail =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    return [{ type: 'Forbidden', field: 'spec', detail }];
  },
});
