import { apiVersionOf, keyOf, metadataOf, Secrets, type Cached, type Secret } from '../../pkg/api/index.ts';
import { isConflict, isNotFound, type Client } from '../../pkg/client/index.ts';
import { invalidSinceLabel, type TokenFate } from './token-fate.ts';

/** Invalidates or deletes the Secret of an unused token, as planned. */
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
        // The resource version prevents deletion if the token was used, or the label removed, after the cached version.
        await client.delete(Secrets, keyOf(secret), { preconditions: { uid, resourceVersion } }, signal);
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
  }
}
