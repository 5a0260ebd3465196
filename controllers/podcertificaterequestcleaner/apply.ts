import { keyOf, PodCertificateRequests, type Cached, type KubeObject } from '../../pkg/api/index.ts';
import { isConflict, isNotFound, type Client } from '../../pkg/client/index.ts';

/** Deletes the request, unless it is gone or another one has its name. */
export async function deleteRequest(client: Client, request: Cached<KubeObject>, signal: AbortSignal): Promise<void> {
  const { uid } = request.metadata;
  try {
    await client.delete(PodCertificateRequests, keyOf(request), { preconditions: { uid } }, signal);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
