import { expect, test } from 'vitest';

import { ControllerRevisions, DaemonSets, keyOf, type ControllerRevision } from '../api/index.ts';
import { daemonSet } from '../../test/support/builders.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { createRevision, deleteRevision, patchRevision } from './apply-revisions.ts';
import { newRevision } from './new-revision.ts';

const { signal } = new AbortController();
const wanted = newRevision({
  kind: DaemonSets,
  owner: daemonSet(),
  revision: 1n,
  collisionCount: undefined,
  hashLabel: 'hash',
});

async function stored(client: RecordingClient): Promise<ControllerRevision> {
  const creation = await createRevision(client, wanted, signal);
  if (creation.kind !== 'stored') throw new Error('the name collided');
  return creation.revision;
}

test('a revision is created, and found by a retry after a lost response', async () => {
  const client = new RecordingClient();
  const first = await stored(client);
  expect((await stored(client)).metadata.uid).toBe(first.metadata.uid);
});

test('a revision of the same name with other data is a collision', async () => {
  const client = new RecordingClient();
  client.seed(ControllerRevisions, { ...wanted, data: { spec: {} } });
  expect(await createRevision(client, wanted, signal)).toEqual({ kind: 'collision' });
});

test('a patch changes the number and leaves the data alone', async () => {
  const client = new RecordingClient();
  const revision = await stored(client);
  await patchRevision(client, revision, { revision: 9007199254740993n }, signal);
  const { body } = client.writes.at(-1) ?? {};
  expect(JSON.stringify(body)).toBe(
    `{"type":"merge","body":{"metadata":{"uid":"${revision.metadata.uid}"},"revision":9007199254740993}}`,
  );
});

test('a delete has the uid as a precondition, and a deleted revision is not an error', async () => {
  const client = new RecordingClient();
  const revision = await stored(client);
  expect(await deleteRevision(client, revision, signal)).toBe(true);
  expect(client.writes.at(-1)).toMatchObject({
    key: keyOf(revision),
    body: { preconditions: { uid: revision.metadata.uid } },
  });
  expect(await deleteRevision(client, revision, signal)).toBe(false);
});
