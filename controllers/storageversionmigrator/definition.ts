import {
  apiVersionOf,
  CustomResourceDefinitions,
  findCondition,
  formatTime,
  objectKey,
  resourceName,
  type Cached,
  type CustomResourceDefinition,
  type ObjectKey,
} from '../../pkg/api/index.ts';

type Definition = Cached<CustomResourceDefinition>;

/** The definition of a custom resource; undefined for the core group, which has none. */
export function definitionKeyOf(target: { readonly group: string; readonly resource: string }): ObjectKey | undefined {
  return target.group === '' ? undefined : objectKey(undefined, resourceName(target));
}

/** What to apply to the status of a definition when a migration of its objects begins. */
export function computeBegin(definition: Definition, migrationName: string, nowMs: number): object {
  const message = `Migration ${migrationName} is running`;
  return computeApplied(definition, { status: 'True', reason: 'MigrationRunning', message }, nowMs);
}

/**
 * What to apply to the status of a definition when a migration has finished; undefined if that was done before.
 *
 * Old versions leave `storedVersions` only if the definition is the one that the migration began with: another storage
 * version may have been chosen meanwhile. That is no longer visible once the condition is false, so it is not written twice.
 * After a failure they stay, because objects may be stored in them. The Go binary removes them then too.
 */
export function computeEnd(definition: Definition, isSuccess: boolean, nowMs: number): object | undefined {
  const migrating = findCondition(definition.status?.conditions, 'StorageMigrating');
  if (migrating?.status === 'False') return undefined;
  const isUnchanged = migrating !== undefined && migrating.observedGeneration === definition.metadata.generation;
  const condition = isSuccess
    ? { reason: 'MigrationSucceeded', message: successMessages[isUnchanged ? 'updated' : 'changed'] }
    : { reason: 'MigrationFailed', message: 'The migration has failed' };
  const stored = definition.spec.versions.find(({ storage }) => storage)?.name;
  const storedVersions = isSuccess && isUnchanged && stored !== undefined ? [stored] : undefined;
  return computeApplied(definition, { status: 'False', ...condition }, nowMs, storedVersions);
}

const successMessages = {
  updated: 'The migration has succeeded and the stored versions have been updated',
  changed: 'The migration has succeeded but the stored versions have not been updated due to a generation mismatch',
};

function computeApplied(
  { metadata, status }: Definition,
  condition: { readonly status: string; readonly reason: string; readonly message: string },
  nowMs: number,
  storedVersions: readonly string[] | null | undefined = status?.storedVersions,
): object {
  const lastTransitionTime = formatTime(nowMs);
  const written = {
    type: 'StorageMigrating',
    ...condition,
    lastTransitionTime,
    observedGeneration: metadata.generation,
  };
  return {
    apiVersion: apiVersionOf(CustomResourceDefinitions),
    kind: CustomResourceDefinitions.kind,
    // A conflict if the definition has changed: the generation would be that of another version of it.
    metadata: { name: metadata.name, resourceVersion: metadata.resourceVersion },
    // Always both: what an earlier migration has applied and this one leaves out, the server would remove.
    status: { conditions: [written], ...(storedVersions && { storedVersions }) },
  };
}
