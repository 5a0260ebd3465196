import {
  isEqualJson,
  type ClusterRoleBinding,
  type Endpoints,
  type EndpointSlice,
  type KubeObject,
  type Lease,
  type PodDisruptionBudget,
} from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { validateAmount, validateNotMoreThanAll } from './amounts.ts';
import { validateConditions } from './conditions.ts';
import { validateLabelSelector } from './label-selectors.ts';
import { pathSegmentProblem } from './names.ts';
import { defineRules, immutable, invalidValue, notNegative, required, unsupported, type Rules } from './rules.ts';

export const endpointsRules = defineRules<Endpoints>({
  defaults({ subsets = [] }) {
    for (const { ports = [] } of subsets) for (const port of ports) port.protocol ??= 'TCP';
  },
});

export const endpointSliceRules = defineRules<EndpointSlice>({
  tracksGeneration: true,
  defaults({ ports }) {
    for (const port of ports ?? []) {
      port.name ??= '';
      port.protocol ??= 'TCP';
    }
  },
  validate: ({ addressType }) => (addressType === '' ? [required('addressType')] : []),
  validateUpdate: (slice, old) => immutable('addressType', slice.addressType === old.addressType, slice.addressType),
});

export const leaseRules = defineRules<Lease>({
  validate({ spec = {} }) {
    const errors: FieldError[] = [];
    if (spec.leaseDurationSeconds !== undefined && spec.leaseDurationSeconds <= 0) {
      errors.push(invalidValue('spec.leaseDurationSeconds', spec.leaseDurationSeconds, 'must be greater than 0'));
    }
    if (spec.leaseTransitions !== undefined && spec.leaseTransitions < 0) {
      const detail = 'must be greater than or equal to 0';
      errors.push(invalidValue('spec.leaseTransitions', spec.leaseTransitions, detail));
    }
    if ((spec.preferredHolder ?? '') !== '' && (spec.strategy ?? '') === '') {
      const detail = 'may only be specified if `strategy` is defined';
      errors.push({ type: 'Forbidden', field: 'spec.preferredHolder', detail });
    }
    return errors;
  },
});

export const podDisruptionBudgetRules = defineRules<PodDisruptionBudget>({
  tracksGeneration: true,
  validate({ spec = {} }) {
    const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy: policy } = spec;
    const detail = 'minAvailable and maxUnavailable cannot be both set';
    const hasBoth = minAvailable !== undefined && maxUnavailable !== undefined;
    const policies = ['AlwaysAllow', 'IfHealthyBudget'];
    const field = 'spec.unhealthyPodEvictionPolicy';
    return [
      ...(hasBoth ? [invalidValue('spec', spec, detail)] : []),
      ...Object.entries({ minAvailable, maxUnavailable }).flatMap(([name, amount]) => [
        ...validateAmount(`spec.${name}`, amount),
        ...validateNotMoreThanAll(`spec.${name}`, amount),
      ]),
      ...validateLabelSelector(spec.selector, 'spec.selector'),
      ...(policy === undefined || policies.includes(policy) ? [] : [unsupported(field, policy, policies)]),
    ];
  },
  validateStatus({ status }) {
    const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = status ?? {};
    const counts = Object.entries({ disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods });
    return [
      ...validateConditions(status?.conditions, 'status.conditions'),
      ...counts.flatMap(([name, count]) => notNegative(`status.${name}`, count)),
    ];
  },
});

const rbacGroup = 'rbac.authorization.k8s.io';

export const roleRules: Rules = { nameProblem: pathSegmentProblem };

export const roleBindingRules = defineRules<ClusterRoleBinding>({
  nameProblem: pathSegmentProblem,
  defaults({ roleRef, subjects = [] }) {
    if (roleRef.apiGroup === '') roleRef.apiGroup = rbacGroup;
    for (const subject of subjects) {
      if (subject.kind === 'ServiceAccount') continue;
      subject.apiGroup ??= rbacGroup;
    }
  },
  validateUpdate: ({ roleRef }, old) =>
    isEqualJson(roleRef, old.roleRef) ? [] : [invalidValue('roleRef', roleRef, 'cannot change roleRef')],
});

type NetworkPolicy = KubeObject & {
  spec?: {
    policyTypes?: string[];
    egress?: { ports?: { protocol?: string }[] }[];
    ingress?: { ports?: { protocol?: string }[] }[];
  };
};

export const networkPolicyRules = defineRules<NetworkPolicy>({
  tracksGeneration: true,
  defaults({ spec }) {
    if (spec === undefined) return;
    spec.policyTypes ??= (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    for (const { ports = [] } of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      for (const port of ports) port.protocol ??= 'TCP';
    }
  },
});

type StorageClass = KubeObject & { reclaimPolicy?: string; volumeBindingMode?: string };

export const storageClassRules = defineRules<StorageClass>({
  defaults(storageClass) {
    storageClass.reclaimPolicy ??= 'Delete';
    storageClass.volumeBindingMode ??= 'Immediate';
  },
});

type PriorityClass = KubeObject & { preemptionPolicy?: string };

export const priorityClassRules = defineRules<PriorityClass>({
  tracksGeneration: true,
  defaults(priorityClass) {
    priorityClass.preemptionPolicy ??= 'PreemptLowerPriority';
  },
});
