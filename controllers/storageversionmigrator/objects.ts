import { compareResourceVersions, metadataOf, type Kind, type MetadataOnly } from '../../pkg/api/index.ts';
import { apiErrorOf, isExpired, type Client } from '../../pkg/client/index.ts';

/** Few enough for one response to be small, many enough for few requests. */
const pageSize = 500;

/** Whether it is a number that can be compared, and that an object can have. */
export function isWellFormed(resourceVersion: string): boolean {
  return /^[1-9]\d*$/.test(resourceVersion);
}

/** The newest resource version of a resource. One object at most is read. */
export async function readLatestVersion(client: Client, kind: Kind, signal: AbortSignal): Promise<string> {
  const { metadata } = await client.list(metadataOf(kind), { limit: 1 }, signal);
  return metadata.resourceVersion ?? '';
}

/** The objects that were last written at `resourceVersion` or before, page by page. Those written later are migrated. */
export async function* listUntil(
  client: Client,
  kind: Kind,
  resourceVersion: string,
  signal: AbortSignal,
): AsyncGenerator<readonly MetadataOnly[], void> {
  let token: string | undefined;
  do {
    const options = { limit: pageSize, ...(token !== undefined && { continue: token }) };
    try {
      const { metadata, items } = await client.list(metadataOf(kind), options, signal);
      token = metadata.continue === '' ? undefined : metadata.continue;
      yield (items ?? []).filter(
        (item) => compareResourceVersions(item.metadata.resourceVersion, resourceVersion) <= 0,
      );
    } catch (error) {
      // Pages may take longer than the server keeps the state of the first one. Objects created since need no migration.
      const next = isExpired(error) ? apiErrorOf(error)?.continue : undefined;
      if (next === undefined || next === '') throw error;
      token = next;
    }
  } while (token !== undefined);
}
