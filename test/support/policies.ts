import { objectKey, ValidatingAdmissionPolicies, type ValidatingAdmissionPolicy } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';

type PolicySpec = NonNullable<ValidatingAdmissionPolicy['spec']>;

interface PolicyDescription extends Pick<PolicySpec, 'paramKind' | 'variables'> {
  readonly group?: string;
  readonly resources: string[];
  readonly expressions: readonly string[];
  readonly message?: string;
}

/** A policy about objects of these resources. No binding uses it. */
export function policySpec(described: PolicyDescription): PolicySpec {
  const { group = '', resources, expressions, message, ...more } = described;
  const rule = { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources };
  const validations = expressions.map((expression) => ({
    expression,
    ...(message !== undefined && { messageExpression: message }),
  }));
  return { matchConstraints: { resourceRules: [rule] }, validations, ...more };
}

/** Waits until the newest generation of a policy is checked. */
export function untilChecked(client: Client, name: string, signal: AbortSignal): Promise<ValidatingAdmissionPolicy> {
  return eventually(async () => {
    const policy = await client.get(ValidatingAdmissionPolicies, objectKey(undefined, name), signal);
    return policy.status?.observedGeneration === policy.metadata.generation && policy;
  }, signal);
}
