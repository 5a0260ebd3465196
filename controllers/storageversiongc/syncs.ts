import { Leases, StorageVersions, type ObjectKey } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { findLive, type Reconcile } from '../../pkg/controller/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { applyPlan } from './apply.ts';
import { planRecords, recordsOf } from './records.ts';
import { isIdentityLease, leaseKeyOf } from './servers.ts';

interface Syncs {
  /** A server has gone: removes its records from every StorageVersion. Keys are those of leases. */
  readonly collectServer: Reconcile;
  /** A StorageVersion has a record of a server that the cache does not know: removes those of servers without a lease. */
  readonly collectRecords: Reconcile;
}

export function createSyncs(client: Client, clock: Clock): Syncs {
  return {
    async collectServer(key, signal) {
      if ((await findLive(client, Leases, key, signal)) !== undefined) return {};
      const { items } = await client.listAll(StorageVersions, {}, signal);
      const failures: unknown[] = [];
      for (const version of items) {
        const plan = planRecords(version, (id) => leaseKeyOf(id) === key, clock.now());
        await applyPlan(plan, version, client, signal).catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0]; // the next sync tries these again
      return {};
    },

    async collectRecords(key: ObjectKey, signal: AbortSignal) {
      const version = await findLive(client, StorageVersions, key, signal);
      if (version === undefined) return {};
      const gone = new Set<string>();
      for (const { apiServerID } of recordsOf(version)) {
        const lease = await findLive(client, Leases, leaseKeyOf(apiServerID), signal);
        if (lease === undefined || !isIdentityLease(lease)) gone.add(apiServerID);
      }
      const plan = planRecords(version, (id) => gone.has(id), clock.now());
      await applyPlan(plan, version, client, signal);
      return {};
    },
  };
}
