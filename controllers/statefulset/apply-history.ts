import { keyOf, type Cached, type ControllerRevision, type StatefulSet, type Unsaved } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import type { PendingWrites } from '../../pkg/controller/index.ts';
import {
  createRevision,
  deleteRevision,
  patchRevision,
  revisionData,
  revisionHash,
  revisionName,
} from '../../pkg/revisions/index.ts';
import { collisionCountOf, type UpdateRevision } from './history.ts';

type Revision = Cached<ControllerRevision>;

export interface HistoryDeps {
  readonly client: Client;
  readonly pendingRevisions: PendingWrites<ControllerRevision>;
}

/** Stores the update revision unless it is stored already. Returns it with the collision count in its name. */
export async function applyUpdateRevision(
  planned: UpdateRevision,
  set: Cached<StatefulSet>,
  { client, pendingRevisions }: HistoryDeps,
  signal: AbortSignal,
): Promise<{ readonly revision: Revision; readonly collisionCount: number }> {
  const collisionCount = collisionCountOf(set);
  switch (planned.kind) {
    case 'known':
      return { revision: planned.revision, collisionCount };
    case 'renumber': {
      const written = await patchRevision(client, planned.revision, { revision: planned.number }, signal);
      pendingRevisions.wrote(keyOf(set), written.metadata.resourceVersion);
      return { revision: planned.revision, collisionCount };
    }
    case 'create': {
      const created = await createUnderFreeName(planned.revision, set, client, signal);
      pendingRevisions.wrote(keyOf(set), created.revision.metadata.resourceVersion);
      return created;
    }
  }
}

/** While a revision with other data has the name, the next collision count gives another. The hash label stays. */
async function createUnderFreeName(
  revision: Unsaved<ControllerRevision>,
  set: Cached<StatefulSet>,
  client: Client,
  signal: AbortSignal,
): Promise<{ readonly revision: Revision; readonly collisionCount: number }> {
  const data = revisionData(revision);
  for (let collisionCount = collisionCountOf(set); ; collisionCount++) {
    const name = revisionName(set.metadata.name, revisionHash(data, collisionCount));
    const named = { ...revision, metadata: { ...revision.metadata, name } };
    const creation = await createRevision(client, named, signal);
    if (creation.kind === 'stored') return { revision: creation.revision, collisionCount };
  }
}

export async function deleteRevisions(
  revisions: readonly Revision[],
  set: Cached<StatefulSet>,
  { client, pendingRevisions }: HistoryDeps,
  signal: AbortSignal,
): Promise<void> {
  for (const revision of revisions) {
    await deleteRevision(client, revision, signal);
    pendingRevisions.vanished(keyOf(set), keyOf(revision), revision.metadata.uid);
  }
}
