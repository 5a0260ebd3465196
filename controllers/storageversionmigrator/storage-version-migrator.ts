import { StorageVersionMigrations, type StorageVersionMigration } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { findServed, runAll, runWorkers, type Controller, type ControllerContext } from '../../pkg/controller/index.ts';
import type { Informer } from '../../informers/index.ts';
import { createObjectMigrator } from './object-migrator.ts';
import { createVersionRecorder } from './resource-versions.ts';
import { createRunner } from './runner.ts';

export const name = 'storage-version-migrator-controller';

/** What its three loops share. Each does one step of a migration, and finds in its status what was done before. */
export interface MigratorDeps {
  readonly name: string;
  readonly context: ControllerContext;
  readonly client: Client;
  readonly migrations: Informer<StorageVersionMigration>;
}

/**
 * Migrates the stored objects of a resource to its current storage version: the runner chooses one migration of each
 * resource, the recorder notes the resource version at which it begins, and the migrator writes the objects anew.
 */
export function createStorageVersionMigrator(context: ControllerContext): Controller {
  // A migration writes every object of a resource. So this client has a multiple of the rate of others.
  const client = context.clientFor(name, { qpsFactor: 20 });

  async function run(signal: AbortSignal): Promise<void> {
    const kind = await findServed(context.discovery, [StorageVersionMigrations], signal);
    if (kind === undefined) {
      context.logger.info({}, 'StorageVersionMigrations are not served: nothing is migrated');
      return;
    }
    const migrations = context.informers.informerFor(kind);
    const deps = { name, context, client, migrations };
    const loops = [createRunner(deps), createVersionRecorder(deps), createObjectMigrator(deps)];
    await runAll(
      loops.map((work) => (either: AbortSignal) => runWorkers(work, either)),
      signal,
    );
  }

  return { name, run };
}
