import {
  apiVersionOf,
  keyOf,
  metadataOf,
  ValidatingAdmissionPolicies,
  type Cached,
  type ValidatingAdmissionPolicy,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { ExpressionWarning } from './check-policy.ts';

/** The name of the Go binary's field manager. */
const fieldManager = 'validatingadmissionpolicy-status';

export async function applyStatus(
  policy: Cached<ValidatingAdmissionPolicy>,
  expressionWarnings: readonly ExpressionWarning[],
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  const { name, generation } = policy.metadata;
  const body = {
    apiVersion: apiVersionOf(ValidatingAdmissionPolicies),
    kind: ValidatingAdmissionPolicies.kind,
    metadata: { name },
    status: {
      observedGeneration: generation,
      typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
    },
  };
  const patch = { type: 'apply', body, subresource: 'status', fieldManager, force: true } as const;
  try {
    await client.patch(metadataOf(ValidatingAdmissionPolicies), keyOf(policy), patch, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
