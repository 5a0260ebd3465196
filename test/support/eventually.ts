import type { Kind, KubeObject } from '../../pkg/api/index.ts';
import type { Client, ListOptions } from '../../pkg/client/index.ts';
import { until } from '../../pkg/testing/until.ts';

/**
 * `until`, which also prints what was missing when the test timed out: Vitest reports the timeout alone, since the test
 * has failed by then.
 */
export async function eventually<T>(attempt: () => Promise<T | false>, signal: AbortSignal): Promise<T> {
  try {
    return await until(attempt, signal);
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    throw error;
  }
}

/**
 * Watches the objects of one kind until there are `count` of them (default 1) and all match, and returns them. The cost
 * of an event does not depend on the number of objects. Rejects with the signal's reason when it aborts.
 */
export async function watchUntil<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  options: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'> & { readonly count?: number },
  isWanted: (object: T) => boolean,
  signal: AbortSignal,
): Promise<readonly T[]> {
  const { count = 1, ...selection } = options;
  for (;;) {
    const { items, metadata } = await client.listAll(kind, selection, signal);
    const byUid = new Map(items.map((item) => [item.metadata.uid, item]));
    const unwanted = new Set(items.filter((item) => !isWanted(item)).map((item) => item.metadata.uid));
    if (byUid.size === count && unwanted.size === 0) return items;
    const from = { ...selection, resourceVersion: metadata.resourceVersion };
    // The server may end a watch at any time, especially that of a slow reader. Then list again.
    for await (const event of client.watch(kind, from, signal)) {
      if (event.type === 'BOOKMARK') continue;
      const { uid } = event.object.metadata;
      if (event.type === 'DELETED') byUid.delete(uid);
      else byUid.set(uid, event.object);
      if (event.type === 'DELETED' || isWanted(event.object)) unwanted.delete(uid);
      else unwanted.add(uid);
      if (byUid.size === count && unwanted.size === 0) return [...byUid.values()];
    }
    signal.throwIfAborted();
  }
}
