import {
  copyOf,
  formatTime,
  isConditionTrue,
  type Cached,
  type StorageVersionMigration,
  type StorageVersionMigrationCondition as Condition,
  type StorageVersionMigrationStatus,
} from '../../pkg/api/index.ts';

type Migration = Cached<StorageVersionMigration>;
type Outcome = Omit<Condition, 'lastTransitionTime' | 'status'>;

export const isRunning = ({ status }: Migration): boolean => isConditionTrue(status?.conditions, 'Running');

/** Succeeded or failed. Neither is ever taken back. */
export const isFinished = ({ status }: Migration): boolean =>
  ['Succeeded', 'Failed'].some((type) => isConditionTrue(status?.conditions, type));

export const isSuccessful = ({ status }: Migration): boolean => isConditionTrue(status?.conditions, 'Succeeded');

export const started: Outcome = {
  type: 'Running',
  reason: 'MigrationRunning',
  message: 'The migration is running',
};
export const succeeded: Outcome = { type: 'Succeeded', reason: 'StorageVersionMigrationSucceeded', message: '' };
export const failed = (message: string): Outcome => ({
  type: 'Failed',
  reason: 'StorageVersionMigrationFailed',
  message,
});
/** A failure while objects are migrated. */
export const failedBecause = (problem: string): Outcome => failed(`migration encountered unhandled error: ${problem}`);

/** The status in which a condition has become true. A condition that was true or false before stays as it is. */
export function withCondition(migration: Migration, outcome: Outcome, nowMs: number): StorageVersionMigrationStatus {
  const status = copyOf<StorageVersionMigrationStatus>(migration.status ?? {});
  const conditions = status.conditions ?? [];
  const known = conditions.find(({ type }) => type === outcome.type);
  if (known?.status === 'True' || known?.status === 'False') return status;
  const condition = { ...outcome, status: 'True', lastTransitionTime: formatTime(nowMs) };
  return { ...status, conditions: [...conditions.filter((each) => each !== known), condition] };
}

/** The status of a migration that has finished and runs no more. */
export function withoutRunning(migration: Migration, nowMs: number): StorageVersionMigrationStatus {
  const status = copyOf<StorageVersionMigrationStatus>(migration.status ?? {});
  const ended = {
    type: 'Running',
    status: 'False',
    reason: 'MigrationCompleted',
    message: 'Migration completed',
    lastTransitionTime: formatTime(nowMs),
    observedGeneration: migration.metadata.generation,
  } as Condition;
  return { ...status, conditions: (status.conditions ?? []).map((each) => (each.type === 'Running' ? ended : each)) };
}
