import type { Cached, ResourceSlice } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { isUpToDate, slicesByDriver } from '../../pkg/controller/index.ts';
import type { Informer } from '../../informers/index.ts';

/** How soon a request is requeued while the cache is stale. */
export const staleMs = 100;

interface Sources {
  readonly slices: Informer<ResourceSlice>;
  readonly client: Pick<Client, 'listAll'>;
}

/**
 * The slices of a driver. Undefined if the cache has none but is stale: there is one answer, so one that is too early would
 * stay wrong.
 */
export async function observedSlices(
  driver: string,
  { slices, client }: Sources,
  signal: AbortSignal,
): Promise<readonly Cached<ResourceSlice>[] | undefined> {
  const read = (): readonly Cached<ResourceSlice>[] => slices.store.byIndex(slicesByDriver, driver);
  if (read().length === 0 && !(await isUpToDate(slices, { client }, signal))) return undefined;
  return read();
}
