import { Leases, type LeaseSpec } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';

export interface LeaseHistory {
  /** Every state of the lease since the start, including the first. */
  readonly specs: readonly LeaseSpec[];
  /** Stops the watch. Rejects if the watch failed. */
  end(): Promise<void>;
}

/** Watches every write of a lease. Resolves when no later write can be missed. */
export async function followLease(
  client: Client,
  lease: { readonly namespace: string; readonly name: string },
): Promise<LeaseHistory> {
  const specs: LeaseSpec[] = [];
  const stop = new AbortController();
  const following = Promise.withResolvers<void>();
  const options = {
    namespace: lease.namespace,
    fieldSelector: `metadata.name=${lease.name}`,
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: true,
  } as const;
  const follow = async (): Promise<void> => {
    for await (const event of client.watch(Leases, options, stop.signal)) {
      if (event.type === 'BOOKMARK') following.resolve();
      else specs.push(event.object.spec ?? {});
    }
  };
  const ended = follow().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  await Promise.race([following.promise, ended]);
  return {
    specs,
    async end() {
      stop.abort();
      await ended;
    },
  };
}
