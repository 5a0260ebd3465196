import { objectKey, parseTime, resourceName, type Cached, type StorageVersionMigration } from '../../pkg/api/index.ts';
import type { ObjectKey } from '../../pkg/api/index.ts';
import { isFinished, isRunning } from './conditions.ts';

type Migration = Cached<StorageVersionMigration>;

/** The resource that is migrated. A migration may exist without it: then it names nothing that is served. */
export function targetOf({ spec }: Migration): { readonly group: string; readonly resource: string } {
  return { group: spec?.resource.group ?? '', resource: spec?.resource.resource ?? '' };
}

/** The same for all migrations of a resource. */
export function turnOf(migration: Migration): ObjectKey {
  return objectKey(undefined, resourceName(targetOf(migration)));
}

export interface Turn {
  /** Finished, and still marked as running. */
  readonly ended: readonly Migration[];
  /** The next migration of the resource; undefined while another one runs. */
  readonly next: Migration | undefined;
}

/** One migration of a resource runs at a time, the oldest first. */
export function planTurn(migrations: readonly Migration[]): Turn {
  const ended = migrations.filter((each) => isRunning(each) && isFinished(each));
  const isBusy = migrations.some((each) => isRunning(each) && !isFinished(each));
  const [next] = isBusy ? [] : migrations.filter((each) => !isRunning(each) && !isFinished(each)).toSorted(byAge);
  return { ended, next };
}

function byAge(a: Migration, b: Migration): number {
  const [createdA, createdB] = [a, b].map(({ metadata }) => parseTime(metadata.creationTimestamp) ?? 0);
  if (createdA !== createdB) return (createdA ?? 0) - (createdB ?? 0);
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
