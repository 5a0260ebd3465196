import { setTimeout as sleep } from 'node:timers/promises';

import type { Kind, KubeObject } from '../../pkg/api/index.ts';
import type { Client, ListOptions } from '../../pkg/client/index.ts';

/** How soon a condition is looked at again: soon enough to cost a test nothing, seldom enough to cost a server little. */
const intervalMs = 50;

/**
 * Waits until `attempt` neither throws nor returns false, and gives what it returned. The only limit is the signal,
 * which the test framework aborts when it has had enough: then the error tells what was still wrong.
 */
export async function eventually<T>(attempt: () => Promise<T | false>, signal: AbortSignal): Promise<T> {
  let last: unknown = new Error('it was false');
  for (;;) {
    try {
      const result = await attempt();
      if (result !== false) return result;
      last = new Error('it was false');
    } catch (error) {
      last = error;
    }
    try {
      await sleep(intervalMs, undefined, { signal });
    } catch {
      throw new Error(`still not so when the test ended: ${last instanceof Error ? last.message : String(last)}`, {
        cause: last,
      });
    }
  }
}

/**
 * Follows the objects of one kind until `isDone` likes the whole set, and gives the set. Sees every change, so a state
 * that lasts a moment is not missed. Ends with the signal's reason when it aborts.
 */
export async function watchUntil<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  options: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>,
  isDone: (objects: readonly T[]) => boolean,
  signal: AbortSignal,
): Promise<readonly T[]> {
  for (;;) {
    const list = await client.listAll(kind, options, signal);
    const byUid = new Map(list.items.map((item) => [item.metadata.uid, item]));
    if (isDone([...byUid.values()])) return [...byUid.values()];
    const { resourceVersion } = list.metadata;
    for await (const event of client.watch(kind, { ...options, resourceVersion }, signal)) {
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED') byUid.delete(event.object.metadata.uid);
      else byUid.set(event.object.metadata.uid, event.object);
      if (isDone([...byUid.values()])) return [...byUid.values()];
    }
    signal.throwIfAborted();
  }
}
