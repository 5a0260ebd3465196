import type { Kind, KubeObject } from '../../pkg/api/index.ts';
import type { Client, ListOptions } from '../../pkg/client/index.ts';

export interface Sightings<R> {
  /** The results of `read`, one after each change of an object. */
  readonly seen: readonly R[];
  /** Stops the watch. Rejects if the watch failed. */
  end(): Promise<void>;
}

/** Watches every write of some objects, and records the result of `read` for each state. */
export async function followObjects<T extends KubeObject, R>(
  client: Client,
  kind: Kind<T>,
  selection: Pick<ListOptions, 'namespace' | 'labelSelector'>,
  read: (objects: readonly T[]) => R,
): Promise<Sightings<R>> {
  const stop = new AbortController();
  const { items, metadata } = await client.listAll(kind, selection, stop.signal);
  const objects = new Map(items.map((item) => [item.metadata.uid, item]));
  const seen: R[] = [];
  const follow = async (): Promise<void> => {
    for await (const event of client.watch(
      kind,
      { ...selection, resourceVersion: metadata.resourceVersion },
      stop.signal,
    )) {
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED') objects.delete(event.object.metadata.uid);
      else objects.set(event.object.metadata.uid, event.object);
      seen.push(read([...objects.values()]));
    }
    throw new Error('the server has ended the watch');
  };
  const ended = follow().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    seen,
    async end() {
      stop.abort();
      await ended;
    },
  };
}
