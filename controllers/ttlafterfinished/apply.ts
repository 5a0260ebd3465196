import { Jobs, keyOf, type Cached, type Job } from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';

/** Deletes an expired Job and its pods. False if it was already gone. */
export async function deleteExpired(client: Client, job: Cached<Job>, signal: AbortSignal): Promise<boolean> {
  // The resource version prevents deletion if the TTL was raised, or the Job resumed, after the cached version.
  const { uid, resourceVersion } = job.metadata;
  try {
    const preconditions = { uid, resourceVersion };
    await client.delete(Jobs, keyOf(job), { propagationPolicy: 'Foreground', preconditions }, signal);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
