import { keyOf, Secrets, type Cached, type Secret } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';

/**
 * Deletes the token. If it was created again under its name, throws the conflict, and the next sync handles the new
 * one.
 */
export async function deleteToken(client: Client, secret: Cached<Secret>, signal: AbortSignal): Promise<void> {
  const { uid } = secret.metadata;
  try {
    await client.delete(Secrets, keyOf(secret), { preconditions: { uid } }, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
