import {
  CustomResourceDefinitions,
  type Cached,
  type ObjectKey,
  type StorageVersionMigration,
} from '../../pkg/api/index.ts';
import { findLive, PendingWrites, type ReconcileResult, type Work } from '../../pkg/controller/index.ts';
import { defineIndex } from '../../informers/index.ts';
import { applyDefinition, writeStatus } from './apply.ts';
import { isSuccessful, started, withCondition, withoutRunning } from './conditions.ts';
import { computeBegin, computeEnd, definitionKeyOf } from './definition.ts';
import type { MigratorDeps } from './storage-version-migrator.ts';
import { planTurn, targetOf, turnOf } from './turns.ts';

type Migration = Cached<StorageVersionMigration>;

const byTurn = defineIndex<StorageVersionMigration>('migrated resource', (migration) => [turnOf(migration)]);

/**
 * Lets one migration of each resource run at a time, and tells the definition of a custom resource about it. Keys are
 * resources.
 */
export function createRunner({ name, context, client, migrations }: MigratorDeps): Work {
  const { clock } = context;
  const queue = context.queueFor('resource-version-controller'); // the Go binary has two queues of this name
  const pending = new PendingWrites<StorageVersionMigration>(migrations, clock);
  migrations.addIndex(byTurn);
  const enqueue = (migration: Migration): void => queue.add(turnOf(migration));
  const handler = migrations.addHandler({
    added: enqueue,
    updated: (_before, after) => enqueue(after),
    deleted: enqueue,
  });

  async function begin(migration: Migration, key: ObjectKey, signal: AbortSignal): Promise<void> {
    const definitionKey = definitionKeyOf(targetOf(migration));
    const definition = definitionKey && (await findLive(client, CustomResourceDefinitions, definitionKey, signal));
    if (definitionKey !== undefined && definition !== undefined) {
      const body = computeBegin(definition, migration.metadata.name, clock.now());
      await applyDefinition(client, definitionKey, body, signal);
    }
    await writeStatus(migration, withCondition(migration, started, clock.now()), { client, pending, key }, signal);
  }

  async function end(migration: Migration, key: ObjectKey, signal: AbortSignal): Promise<void> {
    const definitionKey = definitionKeyOf(targetOf(migration));
    const definition = definitionKey && (await findLive(client, CustomResourceDefinitions, definitionKey, signal));
    const body = definition && computeEnd(definition, isSuccessful(migration), clock.now());
    if (definitionKey !== undefined && body !== undefined) await applyDefinition(client, definitionKey, body, signal);
    await writeStatus(migration, withoutRunning(migration, clock.now()), { client, pending, key }, signal);
  }

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const { ended, next } = planTurn(migrations.store.byIndex(byTurn, key));
    for (const migration of ended) await end(migration, key, signal);
    if (next !== undefined) await begin(next, key, signal);
    return {};
  }

  const primary = { get: (key: ObjectKey): unknown => migrations.store.byIndex(byTurn, key)[0] };
  const care = { primary, ownWrites: [pending] };
  return { name, context, queue, reconcile, caches: [migrations, handler], workers: 1, ...care };
}
