import { apiVersionOf, ClusterRoles, keyOf, metadataOf, type Cached, type ClusterRole } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { PolicyRule } from './aggregate.ts';

const fieldManager = 'clusterrole-aggregation-controller';

export interface ApplyDeps {
  readonly client: Client;
  readonly pending: PendingWrites<ClusterRole>;
}

/** Writes the rules with server-side apply. An aggregating role has no other rules. */
export async function applyRules(
  role: Cached<ClusterRole>,
  rules: readonly PolicyRule[],
  { client, pending }: ApplyDeps,
  signal: AbortSignal,
): Promise<void> {
  const body = {
    apiVersion: apiVersionOf(ClusterRoles),
    kind: ClusterRoles.kind,
    metadata: { name: role.metadata.name },
    ...(rules.length > 0 && { rules }),
  };
  const patch = { type: 'apply', body, fieldManager, force: true } as const;
  const { metadata } = await client.patch(metadataOf(ClusterRoles), keyOf(role), patch, signal);
  pending.wrote(keyOf(role), metadata.resourceVersion);
}
