import { keyOf, Leases, StorageVersions, type Cached, type Lease, type StorageVersion } from '../../pkg/api/index.ts';
import { findServed, runAll, runWorkers, type Controller, type ControllerContext } from '../../pkg/controller/index.ts';
import { recordsOf } from './records.ts';
import { identityLeases, isIdentityLease, leaseKeyOf } from './servers.ts';
import { createSyncs } from './syncs.ts';

const name = 'storageversion-garbage-collector-controller';

/**
 * Removes what API servers have recorded about storage versions when they are gone. Each decision reads live objects: a
 * server that has just started writes its records soon after its lease.
 */
export function createStorageVersionCollector(context: ControllerContext): Controller {
  const client = context.clientFor('storage-version-garbage-collector');

  async function collect(signal: AbortSignal): Promise<void> {
    const goneServers = context.queueFor('storage_version_garbage_collector_leases');
    const suspects = context.queueFor('storage_version_garbage_collector_storageversions');
    const leases = context.informers.informerFor(Leases, identityLeases);
    const versions = context.informers.informerFor(StorageVersions);
    const isKnown = (serverId: string): boolean => {
      const lease = leases.store.get(leaseKeyOf(serverId));
      return lease !== undefined && isIdentityLease(lease);
    };
    const suspect = (version: Cached<StorageVersion>): void => {
      if (!recordsOf(version).every(({ apiServerID }) => isKnown(apiServerID))) suspects.add(keyOf(version));
    };
    const deleted = (last: Cached<Lease>): void => {
      if (isIdentityLease(last)) goneServers.add(keyOf(last));
    };
    const handlers = [
      leases.addHandler({ deleted }),
      versions.addHandler({ added: suspect, updated: (_before, after) => suspect(after) }),
    ];
    const { collectServer, collectRecords } = createSyncs(client, context.clock);
    const work = { name, context, caches: [leases, versions, ...handlers], workers: 1 };
    const loops = [
      (either: AbortSignal) => runWorkers({ ...work, queue: goneServers, reconcile: collectServer }, either),
      (either: AbortSignal) => runWorkers({ ...work, queue: suspects, reconcile: collectRecords }, either),
    ];
    await runAll(loops, signal);
  }

  async function run(signal: AbortSignal): Promise<void> {
    if ((await findServed(context.discovery, [StorageVersions], signal)) !== undefined) return collect(signal);
    context.logger.info({}, 'StorageVersions are not served: nothing is collected');
  }

  return { name, run };
}
