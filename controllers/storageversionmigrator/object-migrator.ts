import { keyOf, type Cached, type Kind, type ObjectKey, type StorageVersionMigration } from '../../pkg/api/index.ts';
import { apiErrorOf } from '../../pkg/client/index.ts';
import { enqueueSelf, PendingWrites, type ReconcileResult, type Work } from '../../pkg/controller/index.ts';
import { isRetriable, rewrite, writeStatus } from './apply.ts';
import { failedBecause, isFinished, succeeded, withCondition } from './conditions.ts';
import { listUntil } from './objects.ts';
import type { MigratorDeps } from './storage-version-migrator.ts';
import { findTarget, recheckMs } from './target.ts';

/** As many migrations run at the same time, each of another resource. */
const workers = 5;

/**
 * Writes each object of a resource anew, and records how that ended. A migration that is interrupted begins again. Objects
 * that it has changed have a later resource version, and are left alone.
 */
export function createObjectMigrator({ name, context, client, migrations }: MigratorDeps): Work {
  const { clock, discovery, logger } = context;
  const queue = context.queueFor(name);
  const pending = new PendingWrites<StorageVersionMigration>(migrations, clock);
  const handler = migrations.addHandler(enqueueSelf(queue));

  /** False if the migration was deleted meanwhile. */
  async function migrate(
    migration: Cached<StorageVersionMigration>,
    kind: Kind,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { uid, name: migrationName } = migration.metadata;
    const isThere = (): boolean => migrations.store.get(keyOf(migration))?.metadata.uid === uid;
    const counts = { rewritten: 0, skipped: 0 };
    for await (const page of listUntil(client, kind, migration.status?.resourceVersion ?? '', signal)) {
      for (const object of page) {
        if (!isThere()) return false;
        const isRewritten = await rewrite(client, kind, object, { fieldManager: name, signal });
        counts[isRewritten ? 'rewritten' : 'skipped']++;
      }
    }
    logger.info({ migration: migrationName, ...counts }, 'migrated');
    return true;
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const migration = migrations.store.get(key);
    if (migration === undefined || isFinished(migration) || (migration.status?.resourceVersion ?? '') === '') return {};
    const finish = async (outcome: ReturnType<typeof failedBecause>): Promise<ReconcileResult> => {
      const status = withCondition(migration, outcome, clock.now());
      await writeStatus(migration, status, { client, pending, key }, signal);
      return {};
    };
    const target = await findTarget(migration, { discovery, nowMs: clock.now() }, signal);
    if (target.state === 'awaited') return { requeueAfterMs: recheckMs };
    if (target.state === 'absent') return finish(failedBecause('unable to obtain GVR from discovery'));
    if (target.state === 'unsuitable') return finish(failedBecause(target.problem));
    try {
      if (!(await migrate(migration, target.kind, signal))) return {};
    } catch (error) {
      const refusal = apiErrorOf(error);
      if (refusal === undefined || isRetriable(error)) throw error;
      logger.error({ migration: key, err: error }, 'the migration has failed');
      return finish(failedBecause(refusal.serverMessage));
    }
    return finish(succeeded);
  }

  const care = { primary: migrations.store, ownWrites: [pending] };
  return { name, context, queue, reconcile, caches: [migrations, handler], workers, ...care };
}
