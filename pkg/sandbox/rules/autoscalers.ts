import type { HorizontalPodAutoscaler, HPAScalingRules } from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { defineRules, invalidValue, notNegative, required, unsupported } from './rules.ts';

const every15Seconds = { periodSeconds: 15 };
const scaleUpPolicies = [
  { type: 'Pods', value: 4, ...every15Seconds },
  { type: 'Percent', value: 100, ...every15Seconds },
];
const scaleDownPolicies = [{ type: 'Percent', value: 100, ...every15Seconds }];

export const autoscalerRules = defineRules<HorizontalPodAutoscaler>({
  defaults({ spec }) {
    spec.minReplicas ??= 1;
    const target = { type: 'Utilization', averageUtilization: 80 };
    spec.metrics ??= [{ type: 'Resource', resource: { name: 'cpu', target } }];
    if (spec.behavior === undefined) return;
    spec.behavior.scaleUp = withDefaults(spec.behavior.scaleUp, {
      stabilizationWindowSeconds: 0,
      policies: structuredClone(scaleUpPolicies),
    });
    spec.behavior.scaleDown = withDefaults(spec.behavior.scaleDown, { policies: structuredClone(scaleDownPolicies) });
  },
  validate({ spec }) {
    const { minReplicas = 1, maxReplicas, scaleTargetRef, behavior } = spec;
    const errors: FieldError[] = [];
    if (minReplicas < 1) {
      errors.push(invalidValue('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
    }
    if (maxReplicas === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
    else if (maxReplicas < 0) {
      errors.push(invalidValue('spec.maxReplicas', maxReplicas, 'must be greater than or equal to 1'));
    }
    if (maxReplicas < minReplicas) {
      errors.push(invalidValue('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
    }
    for (const name of ['kind', 'name'] as const) {
      if (scaleTargetRef[name] === '') errors.push(required(`spec.scaleTargetRef.${name}`));
    }
    return [
      ...errors,
      ...validateRules(behavior?.scaleUp, 'spec.behavior.scaleUp'),
      ...validateRules(behavior?.scaleDown, 'spec.behavior.scaleDown'),
    ];
  },
  validateStatus({ status }) {
    return [
      ...notNegative('status.currentReplicas', status?.currentReplicas),
      ...notNegative('status.desiredReplicas', status?.desiredReplicas),
    ];
  },
});

function withDefaults(given: HPAScalingRules | undefined, defaults: HPAScalingRules): HPAScalingRules {
  return { selectPolicy: 'Max', ...defaults, ...given };
}

function validateRules(rules: HPAScalingRules | undefined, field: string): FieldError[] {
  if (rules === undefined) return [];
  const { selectPolicy = 'Max', stabilizationWindowSeconds: windowSeconds = 0, policies } = rules;
  const selections = ['Disabled', 'Max', 'Min'];
  const errors: FieldError[] = [];
  const windowField = `${field}.stabilizationWindowSeconds`;
  if (windowSeconds < 0) errors.push(invalidValue(windowField, windowSeconds, 'must be greater than or equal to zero'));
  if (windowSeconds > 3600) {
    errors.push(invalidValue(windowField, windowSeconds, 'must be less than or equal to 3600'));
  }
  if (!selections.includes(selectPolicy)) errors.push(unsupported(`${field}.selectPolicy`, selectPolicy, selections));
  if ((policies ?? []).length === 0) {
    errors.push(required(`${field}.policies`, 'must specify at least one Policy'));
  }
  for (const [index, { type, value, periodSeconds }] of (policies ?? []).entries()) {
    const place = `${field}.policies[${index}]`;
    if (type !== 'Pods' && type !== 'Percent') errors.push(unsupported(`${place}.type`, type, ['Percent', 'Pods']));
    if (value <= 0) errors.push(invalidValue(`${place}.value`, value, 'must be greater than zero'));
    if (periodSeconds <= 0) {
      errors.push(invalidValue(`${place}.periodSeconds`, periodSeconds, 'must be greater than zero'));
    }
    if (periodSeconds > 1800) {
      errors.push(invalidValue(`${place}.periodSeconds`, periodSeconds, 'must be less than or equal to 1800'));
    }
  }
  return errors;
}
