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
import { pathSegmentProblem } from './names.ts';
import { defineRules, immutable, invalidValue, required, type Rules } from './rules.ts';

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
    return errors;
  },
});

export const podDisruptionBudgetRules = defineRules<PodDisruptionBudget>({
  tracksGeneration: true,
  validate({ spec = {} }) {
    if (spec.minAvailable === undefined || spec.maxUnavailable === undefined) return [];
    const detail = 'minAvailable and maxUnavailable cannot be both set';
    return [invalidValue('spec', spec, detail)];
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

type Autoscaler = KubeObject & { spec: { minReplicas?: number; metrics?: unknown[] } };

export const autoscalerRules = defineRules<Autoscaler>({
  defaults({ spec }) {
    spec.minReplicas ??= 1;
    const target = { type: 'Utilization', averageUtilization: 80 };
    spec.metrics ??= [{ type: 'Resource', resource: { name: 'cpu', target } }];
  },
});
