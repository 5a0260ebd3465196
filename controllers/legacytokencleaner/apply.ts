import { apiVersionOf, keyOf, metadataOf, Secrets, type Cached, type Secret } from '../../pkg/api/index.ts';
import { isConflict, isNotFound, type Client } from '../../pkg/client/index.ts';
import { invalidSinceLabel, type TokenFate } from './token-fate.ts';

/** Invalidates or deletes the secret of an unused token, as decided. */
export async function applyFate(
  client: Client,
  secret: Cached<Secret>,
  fate: TokenFate,
  signal: AbortSignal,
): Promise<void> {
  const { uid, resourceVersion } = secret.metadata;
  switch (fate.kind) {
    case 'keep':
      return;
    case 'invalidate': {
      const metadata = { uid, labels: { [invalidSinceLabel]: fate.since } };
      const body = { apiVersion: apiVersionOf(Secrets), kind: Secrets.kind, metadata };
      await client.patch(metadataOf(Secrets), keyOf(secret), { type: 'merge', body }, signal);
      return;
    }
    case 'delete':
      try {
        // The resource version rules out that the token was used, or the label removed, since the cache was updated.
        await client.delete(Secrets, keyOf(secret), { preconditions: { uid, resourceVersion } }, signal);
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
  }
}
