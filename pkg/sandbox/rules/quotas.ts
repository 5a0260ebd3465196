import type { ResourceQuota } from '../../api/index.ts';
import { usageOf, type ResourceList } from '../../quota/index.ts';
import type { FieldError } from '../failure.ts';
import { defineRules, immutable, invalidValue, required, type Rules } from './rules.ts';

const existing = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];
const scopes = new Set([...existing, 'PriorityClass', 'VolumeAttributesClass']);

const compute = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];
/** Resources that have a name of their own in quotas, but for huge pages. */
const standard: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'services.nodeports',
  'services.loadbalancers',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'requests.storage',
  'ephemeral-storage',
  'requests.ephemeral-storage',
  'limits.ephemeral-storage',
  ...compute,
]);

/** Whether objects that are charged under this name can have the scope. */
function fits(scope: string, name: string): boolean {
  if (!standard.has(name) && !/^(requests\.)?hugepages-/.test(name)) return true;
  if (scope === 'VolumeAttributesClass') return name === 'persistentvolumeclaims' || name === 'requests.storage';
  return name === 'pods' || (scope !== 'BestEffort' && compute.includes(name));
}

export const resourceQuotaRules: Rules = defineRules<ResourceQuota>({
  returnsDeleted: true,
  validate: ({ spec }) => [
    ...validateAmounts('spec.hard', spec?.hard),
    ...(spec?.scopes ?? [])
      .filter((scope) => !scopes.has(scope))
      .map(() => invalidValue('spec.scopes', spec?.scopes, 'unsupported scope')),
    ...misfits(spec?.scopes ?? [], spec?.hard).map((detail) => invalidValue('spec.scopes', spec?.scopes, detail)),
    ...(spec?.scopeSelector?.matchExpressions ?? []).flatMap(validateRequirement),
    ...misfits(
      (spec?.scopeSelector?.matchExpressions ?? []).map(({ scopeName }) => scopeName),
      spec?.hard,
    ).map((detail) => invalidValue('spec.scopeSelector.matchExpressions', spec?.scopeSelector, detail)),
  ],
  validateUpdate: ({ spec }, old) => {
    const isSame = new Set(spec?.scopes).symmetricDifference(new Set(old.spec?.scopes)).size === 0;
    return immutable('spec.scopes', isSame, spec?.scopes);
  },
  validateStatus: ({ status }) => [
    ...validateAmounts('status.hard', status?.hard),
    ...validateAmounts('status.used', status?.used),
  ],
});

/** One message for each scope and name that do not fit together. */
function misfits(given: readonly string[], hard: ResourceList): string[] {
  return given
    .filter((scope) => scopes.has(scope))
    .flatMap((scope) => Object.keys(hard ?? {}).filter((name) => !fits(scope, name)))
    .map(() => 'unsupported scope applied to resource');
}

function validateAmounts(field: string, list: ResourceList): FieldError[] {
  return [...usageOf(list)]
    .filter(([, { nanos }]) => nanos < 0n)
    .map(([name]) => invalidValue(`${field}[${name}]`, list?.[name], 'must be greater than or equal to 0'));
}

interface Requirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

function validateRequirement({ scopeName, operator, values = [] }: Requirement): FieldError[] {
  const field = 'spec.scopeSelector.matchExpressions';
  const errors: FieldError[] = [];
  if (!scopes.has(scopeName)) errors.push(invalidValue(`${field}.scopeName`, scopeName, 'unsupported scope'));
  if (existing.includes(scopeName) && operator !== 'Exists') {
    const names =
      'ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity';
    errors.push(invalidValue(`${field}.operator`, operator, `must be 'Exists' when scope is any of ${names}`));
  }
  if (operator === 'In' || operator === 'NotIn') {
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    if (values.length === 0) errors.push(required(`${field}.values`, detail));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    if (values.length > 0) errors.push(invalidValue(`${field}.values`, values, detail));
  } else errors.push(invalidValue(`${field}.operator`, operator, 'not a valid selector operator'));
  return errors;
}
