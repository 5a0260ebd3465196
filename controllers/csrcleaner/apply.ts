import { CertificateSigningRequests, keyOf, type Cached, type CertificateSigningRequest } from '../../pkg/api/index.ts';
import { isConflict, isNotFound, type Client } from '../../pkg/client/index.ts';

/** Deletes the request. A request that is already deleted, or was created again under its name, is left alone. */
export async function deleteRequest(
  client: Client,
  request: Cached<CertificateSigningRequest>,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = request.metadata;
  try {
    await client.delete(CertificateSigningRequests, keyOf(request), { preconditions: { uid } }, signal);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
