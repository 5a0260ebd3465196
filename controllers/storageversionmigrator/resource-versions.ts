import {
  copyOf,
  type ObjectKey,
  type StorageVersionMigration,
  type StorageVersionMigrationStatus,
} from '../../pkg/api/index.ts';
import { enqueueSelf, PendingWrites, type ReconcileResult, type Work } from '../../pkg/controller/index.ts';
import { writeStatus } from './apply.ts';
import { failed, isFinished, isRunning, withCondition } from './conditions.ts';
import { isWellFormed, readLatestVersion } from './objects.ts';
import type { MigratorDeps } from './storage-version-migrator.ts';
import { findTarget, idOf, recheckMs } from './target.ts';

/**
 * Records the resource version at which a migration begins. Only objects that were last written before it are migrated,
 * also after a restart.
 */
export function createVersionRecorder({ name, context, client, migrations }: MigratorDeps): Work {
  const { clock, discovery } = context;
  const queue = context.queueFor('resource-version-controller');
  const pending = new PendingWrites<StorageVersionMigration>(migrations, clock);
  const handler = migrations.addHandler(enqueueSelf(queue));

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const migration = migrations.store.get(key);
    if (migration === undefined || !isRunning(migration) || isFinished(migration)) return {};
    if ((migration.status?.resourceVersion ?? '') !== '') return {};
    const deps = { client, pending, key };
    const fail = async (problem: string): Promise<ReconcileResult> => {
      await writeStatus(migration, withCondition(migration, failed(problem), clock.now()), deps, signal);
      return {};
    };
    const target = await findTarget(migration, { discovery, nowMs: clock.now() }, signal);
    if (target.state === 'awaited') return { requeueAfterMs: recheckMs };
    if (target.state === 'absent') return fail('resource does not exist in discovery');
    if (target.state === 'unsuitable') return fail(target.problem);
    const resourceVersion = await readLatestVersion(client, target.kind, signal);
    if (!isWellFormed(resourceVersion)) {
      const problem = `resource version is not well formed: ${resourceVersion}`;
      return fail(`latest resourceVersion for ${idOf(target.kind)} is not valid: ${problem}`);
    }
    await writeStatus(
      migration,
      { ...copyOf<StorageVersionMigrationStatus>(migration.status ?? {}), resourceVersion },
      deps,
      signal,
    );
    return {};
  }

  const care = { primary: migrations.store, ownWrites: [pending] };
  return { name, context, queue, reconcile, caches: [migrations, handler], workers: 1, ...care };
}
