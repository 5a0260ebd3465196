import { isEqualJson, ownValue, parseInt64, type ControllerRevision, type DaemonSet } from '../../api/index.ts';
import { isZeroAmount, validateAmount, validateNotMoreThanAll } from './amounts.ts';
import { validateTemplate } from './pod-validation.ts';
import { defineRules, immutable, invalidValue, notNegative, required } from './rules.ts';
import { defaultTemplate, sameSelector, unsupportedStrategy, validateCollisionCount } from './workloads.ts';

/** Counts the changes of the template. Only the server sets it. */
const templateGeneration = 'deprecated.daemonset.template.generation';

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
  beforeCreate({ metadata }) {
    const given = parseInt64(ownValue(metadata.annotations, templateGeneration)) ?? 0n;
    metadata.annotations = { ...metadata.annotations, [templateGeneration]: String(given < 1n ? 1n : given) };
  },
  beforeUpdate({ metadata, spec }, old) {
    const before = parseInt64(ownValue(old.metadata.annotations, templateGeneration)) ?? 1n;
    const isSame = isEqualJson(spec.template, old.spec.template, { emptyIsAbsent: true });
    metadata.annotations = { ...metadata.annotations, [templateGeneration]: String(isSame ? before : before + 1n) };
  },
  beforeStatusUpdate({ metadata }, old) {
    const kept = ownValue(old.metadata.annotations, templateGeneration) ?? '1';
    metadata.annotations = { ...metadata.annotations, [templateGeneration]: kept };
  },
  validate: ({ spec }) => [
    ...validateTemplate(spec.template, spec.selector, 'DaemonSet'),
    ...notNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...validateDaemonStrategy(spec.updateStrategy),
    ...notNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
  ],
  validateUpdate: sameSelector,
  validateStatus: ({ status }, old) => [
    ...counts.flatMap((name) => notNegative(`status.${name}`, status?.[name])),
    ...validateCollisionCount(status?.collisionCount, old.status?.collisionCount),
  ],
});

const counts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const;

/** The history of DaemonSets and StatefulSets. */
export const controllerRevisionRules = defineRules<ControllerRevision>({
  validate: ({ data, revision }) => [
    ...(data === undefined || data === null ? [required('data', 'data is mandatory')] : []),
    ...notNegative('revision', revision),
  ],
  validateUpdate: ({ data }, old) => immutable('data', isEqualJson(data, old.data), data),
});

function validateDaemonStrategy({ type, rollingUpdate }: NonNullable<DaemonSet['spec']['updateStrategy']> = {}) {
  const field = 'spec.updateStrategy';
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') return [unsupportedStrategy(field, type, ['RollingUpdate', 'OnDelete'])];
  const { maxSurge, maxUnavailable } = rollingUpdate ?? {};
  const [surgeField, unavailableField] = [`${field}.rollingUpdate.maxSurge`, `${field}.rollingUpdate.maxUnavailable`];
  const errors = [
    ...validateAmount(unavailableField, maxUnavailable),
    ...validateAmount(surgeField, maxSurge),
    ...validateNotMoreThanAll(unavailableField, maxUnavailable),
    ...validateNotMoreThanAll(surgeField, maxSurge),
  ];
  const [hasSurge, hasUnavailable] = [!isZeroAmount(maxSurge), !isZeroAmount(maxUnavailable)];
  if (hasSurge && hasUnavailable) {
    errors.push(invalidValue(surgeField, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (!hasSurge && !hasUnavailable) errors.push(required(unavailableField, 'cannot be 0 when maxSurge is 0'));
  return errors;
}
