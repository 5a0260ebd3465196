import {
  apiVersionOf,
  isEqualJson,
  PersistentVolumeClaims,
  type PodTemplateSpec,
  type StatefulSet,
} from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { isZeroAmount, validateAmount, validateNotMoreThanAll } from './amounts.ts';
import { labelProblem } from './names.ts';
import { validateTemplate } from './pod-validation.ts';
import { defineRules, invalidValue, notNegative, unsupported } from './rules.ts';
import { validateClaimSpec } from './volumes.ts';
import { defaultTemplate, validateCollisionCount } from './workloads.ts';

type StatefulSetSpec = StatefulSet['spec'];

export const statefulSetRules = defineRules<StatefulSet>({
  tracksGeneration: true,
  nameProblem: labelProblem, // the names of its pods begin with it
  defaults({ spec }) {
    spec.podManagementPolicy ??= 'OrderedReady';
    spec.updateStrategy ??= {};
    if (spec.updateStrategy.type === undefined) {
      spec.updateStrategy.type = 'RollingUpdate';
      spec.updateStrategy.rollingUpdate ??= {};
    }
    const { type, rollingUpdate } = spec.updateStrategy;
    if (type === 'RollingUpdate' && rollingUpdate !== undefined) rollingUpdate.partition ??= 0;
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= 'Retain';
    spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= 'Retain';
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    for (const claim of spec.volumeClaimTemplates ?? []) {
      if (claim.spec !== undefined) claim.spec.volumeMode ??= 'Filesystem';
      claim.status = { phase: 'Pending' };
      claim.apiVersion = apiVersionOf(PersistentVolumeClaims);
      claim.kind = PersistentVolumeClaims.kind;
    }
    defaultTemplate(spec.template);
  },
  beforeCreate: ({ spec }, { featureGates }) => prepareMaxUnavailable(spec, undefined, featureGates),
  beforeUpdate: ({ spec }, old, { featureGates }) => prepareMaxUnavailable(spec, old.spec, featureGates),
  validate: ({ spec }, old) => [
    ...validatePodManagement(spec.podManagementPolicy),
    ...validateUpdateStrategy(spec.updateStrategy),
    ...validateRetention(spec.persistentVolumeClaimRetentionPolicy),
    ...(old === undefined ? validateClaimTemplates(spec) : []), // fixed: invalid ones of earlier releases may remain
    ...notNegative('spec.replicas', spec.replicas),
    ...notNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...notNegative('spec.ordinals.start', spec.ordinals?.start),
    ...(old === undefined ? validateServiceName(spec.serviceName) : []),
    ...validateTemplate(withClaims(spec), spec.selector, 'StatefulSet'),
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
  validateStatus: ({ status }, old) => [
    ...validateCounts(status),
    ...validateCollisionCount(status?.collisionCount, old.status?.collisionCount),
  ],
});

function validateClaimTemplates({ volumeClaimTemplates = [] }: StatefulSetSpec): FieldError[] {
  return volumeClaimTemplates.flatMap(({ spec }, index) =>
    validateClaimSpec(spec, `spec.volumeClaimTemplates[${index}].spec`),
  );
}

function validateServiceName(name = ''): FieldError[] {
  const problem = name === '' ? undefined : labelProblem(name);
  return problem === undefined ? [] : [invalidValue('spec.serviceName', name, problem)];
}

const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;
const numbers = ['replicas', ...parts, 'observedGeneration', 'collisionCount'] as const;

function validateCounts(status: Partial<StatefulSet['status']> = {}): FieldError[] {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const errors = numbers.flatMap((name) => notNegative(`status.${name}`, status[name]));
  for (const name of parts) {
    const count = status[name] ?? 0;
    if (count <= replicas) continue;
    errors.push(invalidValue(`status.${name}`, count, 'cannot be greater than status.replicas'));
  }
  if (availableReplicas > readyReplicas) {
    const detail = 'cannot be greater than status.readyReplicas';
    errors.push(invalidValue('status.availableReplicas', availableReplicas, detail));
  }
  return errors;
}

/** Defaults the field with its gate on. With the gate off, drops it unless the old object has it. */
function prepareMaxUnavailable(
  { updateStrategy: { type, rollingUpdate } = {} }: StatefulSetSpec,
  old: StatefulSetSpec | undefined,
  featureGates: ReadonlySet<string>,
): void {
  if (rollingUpdate === undefined) return;
  if (featureGates.has('MaxUnavailableStatefulSet')) {
    if (type === 'RollingUpdate') rollingUpdate.maxUnavailable ??= 1;
  } else if (old?.updateStrategy?.rollingUpdate?.maxUnavailable === undefined) {
    delete rollingUpdate.maxUnavailable;
  }
}

/** The template with the volumes that the controller adds for the claims. */
function withClaims({ template, volumeClaimTemplates = [] }: StatefulSetSpec): PodTemplateSpec {
  if (template.spec === undefined) return template;
  const claims = volumeClaimTemplates.map(({ metadata }) => ({ name: metadata?.name ?? '' }));
  const others = (template.spec.volumes ?? []).filter(({ name }) => !claims.some((claim) => claim.name === name));
  return { ...template, spec: { ...template.spec, volumes: [...claims, ...others] } };
}

function validatePodManagement(policy: string | undefined): FieldError[] {
  if (policy === 'OrderedReady' || policy === 'Parallel') return [];
  return [invalidValue('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'")];
}

function validateUpdateStrategy({ type, rollingUpdate }: NonNullable<StatefulSetSpec['updateStrategy']> = {}) {
  const field = 'spec.updateStrategy';
  const { partition, maxUnavailable } = rollingUpdate ?? {};
  // Go prints its internal structs, whose fields are capitalized.
  const printed = rollingUpdate && { Partition: partition ?? 0, MaxUnavailable: maxUnavailable ?? null };
  if (type === 'OnDelete') {
    if (rollingUpdate === undefined) return [];
    return [invalidValue(`${field}.rollingUpdate`, printed, "only allowed for updateStrategy 'RollingUpdate'")];
  }
  if (type !== 'RollingUpdate') {
    const value = { Type: type, RollingUpdate: printed ?? null };
    return [invalidValue(field, value, "must be 'RollingUpdate' or 'OnDelete'")];
  }
  const unavailable = `${field}.rollingUpdate.maxUnavailable`;
  const isZero = maxUnavailable !== undefined && isZeroAmount(maxUnavailable);
  return [
    ...notNegative(`${field}.rollingUpdate.partition`, partition),
    ...validateAmount(unavailable, maxUnavailable),
    ...(isZero ? [invalidValue(unavailable, maxUnavailable, 'cannot be 0')] : []),
    ...validateNotMoreThanAll(unavailable, maxUnavailable),
  ];
}

function validateRetention(policy: StatefulSetSpec['persistentVolumeClaimRetentionPolicy'] = {}): FieldError[] {
  const supported = ['Retain', 'Delete'];
  return (['whenDeleted', 'whenScaled'] as const)
    .filter((when) => !supported.includes(policy[when] ?? ''))
    .map((when) => unsupported(`spec.persistentVolumeClaimRetentionPolicy.${when}`, policy[when], supported));
}
