import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  CoreEvents,
  keyOf,
  metadataOf,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
} from '../../pkg/api/index.ts';
import { ClientBuilder, isNotFound, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import {
  BinderUser,
  playDefaultClass,
  playHalfBound,
  playMatching,
  playProvisioning,
  playReclaiming,
  playReservations,
} from '../support/binder-scenarios.ts';
import { dumped, type State } from '../support/compare-state.ts';
import type { DumpedObject } from '../support/compare-symbols.ts';
import { compareWithGo, type ManagerName, runWith, type Stage } from '../support/side-by-side.ts';
import { useCluster } from './use-cluster.ts';

const cluster = useCluster();
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'persistent-volumes-suite' });
  client = clients.clientFor('user');
  const account = { metadata: { name: 'default' } }; // for recycler pods
  await cluster().request({ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts', body: account });
});

afterAll(() => clients.close());

type Play = (binder: BinderUser) => Promise<void>;

/** Every run has its own names, which become this one. */
const anyRun = 'run';

/** The end of a play with one of the managers. What it leaves outside its namespace is removed for the next. */
async function endOf(play: Play, manager: ManagerName, signal: AbortSignal): Promise<State> {
  const scenario = {
    controllers: ['persistentvolume-binder-controller'],
    flags: ['--pvclaimbinder-sync-period=3s', '--enable-hostpath-provisioner=true'],
    kinds: [PersistentVolumeClaims, PersistentVolumes, CoreEvents],
    run: (stage: Stage) => play(new BinderUser(stage.client, stage.namespace, signal)),
  };
  const { namespace, objects } = await runWith(manager, cluster(), scenario, signal);
  await removeOutside(signal);
  const { items } = await client.listAll(CoreEvents, { namespace: 'default' }, signal);
  const events = items.filter(({ involvedObject }) => involvedObject.name?.includes(namespace) === true);
  return renamed(namespace, [...objects, ...events.map((event) => dumped(CoreEvents, event))]);
}

async function removeOutside(signal: AbortSignal): Promise<void> {
  const { items: volumes } = await client.listAll(PersistentVolumes, {}, signal);
  const body = { metadata: { finalizers: null } };
  for (const volume of volumes) {
    await client.patch(metadataOf(PersistentVolumes), keyOf(volume), { type: 'merge', body }, signal).catch(ignoreGone);
    await client.delete(PersistentVolumes, keyOf(volume), {}, signal).catch(ignoreGone);
  }
  const { items: classes } = await client.listAll(StorageClasses, {}, signal);
  for (const each of classes) await client.delete(StorageClasses, keyOf(each), {}, signal);
  const { items: nodes } = await client.listAll(Nodes, {}, signal);
  for (const each of nodes) await client.delete(Nodes, keyOf(each), {}, signal);
}

function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** With the same names in every run. A volume that was provisioned has the uid of its claim in its name. */
function renamed(namespace: string, objects: readonly DumpedObject[]): State {
  const uids = objects.map(
    ({ kind, object }) => [object.metadata.uid, `uid-of-${kind}-${object.metadata.name}`] as const,
  );
  const text = JSON.stringify(objects.map(({ object }) => object)).replaceAll(namespace, anyRun);
  const names = uids.reduce((result, [uid, name]) => result.replaceAll(uid, name), text).replaceAll(namespace, anyRun);
  const kinds = objects.map(({ kind }) => kind);
  const renamedObjects = (JSON.parse(names) as DumpedObject['object'][]).map((object, index) => ({
    kind: kinds[index] ?? '',
    object,
  }));
  return { namespace: anyRun, objects: renamedObjects };
}

const ignore = ['PersistentVolume:spec.claimRef.resourceVersion', '*:metadata.uid'];

/** Several plays share the start of a manager and the wait for its last event. Each has its own objects. */
const plays: readonly (readonly [string, readonly Play[]])[] = [
  [
    'claims get the smallest volume that fits or the one they name, and half-bound states are finished or undone',
    [playMatching, playReservations, playHalfBound],
  ],
  [
    'volumes are provisioned, now or for a pod, and reclaimed by their policy',
    [playProvisioning, playReclaiming, playDefaultClass],
  ],
];

describe('as with the Go manager', () => {
  test.for(plays)('%s', async ([, parts], { signal }) => {
    const play = async (binder: BinderUser): Promise<void> => {
      for (const part of parts) await part(binder);
    };
    const ours = await endOf(play, 'ours', signal);
    expect(await compareWithGo(ours, () => endOf(play, 'go', signal), { ignore })).toEqual([]);
  });
});
