import { keyOf, metadataOf, type ClusterTrustBundle, type Kind, type ObjectKey } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { Plan } from './publication.ts';

export interface ApplyDeps {
  readonly client: Client;
  readonly kind: Kind<ClusterTrustBundle>;
  readonly pending: PendingWrites<ClusterTrustBundle>;
  readonly logger: Logger;
  /** The key that the writes are made for. */
  readonly key: ObjectKey;
}

/** Publishes first: there is always a bundle to verify the API server by. A deletion that fails does not stop the others. */
export async function applyPlan({ write, deletions }: Plan, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  const { client, key, logger, pending } = deps;
  const kind = metadataOf(deps.kind);
  if (write !== undefined) {
    const { verb, bundle } = write;
    const { metadata } =
      verb === 'create' ? await client.create(kind, bundle, signal) : await client.update(kind, bundle, signal);
    pending.wrote(key, metadata.resourceVersion);
  }
  const failures: unknown[] = [];
  for (const bundle of deletions) {
    const { uid } = bundle.metadata;
    try {
      await client.delete(kind, keyOf(bundle), {}, signal);
      pending.deleted(key, keyOf(bundle), uid);
    } catch (error) {
      if (signal.aborted) throw error;
      if (isNotFound(error)) {
        pending.vanished(key, keyOf(bundle), uid);
        continue;
      }
      logger.error({ object: keyOf(bundle), err: error }, 'could not delete a cluster trust bundle');
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures.at(-1);
}
