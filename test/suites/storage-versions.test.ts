import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  ConfigMaps,
  CustomResourceDefinitions,
  objectKey,
  StorageVersionMigrations,
  StorageVersions,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import { ClientBuilder, isForbidden, isInvalid, loadKubeconfig, type Client } from '../../pkg/client/index.ts';
import { systemClock } from '../../pkg/time/index.ts';
import { compareStates, dumpState, type State } from '../support/compare-state.ts';
import { eventually } from '../support/eventually.ts';
import {
  gatesFlag,
  mergeApis,
  migrationApis,
  migrationGates,
  storageVersionApis,
  storageVersionGates,
} from '../support/gated-apis.ts';
import { startManager } from '../support/manager.ts';
import {
  defineVersioned,
  migrate,
  storeAs,
  untilMigrated,
  untilRecorded as untilVersionRecorded,
  versionsOf,
  type MigrationUser,
} from '../support/migrations.ts';
import { startEither, type ManagerName } from '../support/side-by-side.ts';
import { endServer, recordVersions, startServer, untilRecorded } from '../support/storage-versions.ts';
import { createNamespace, useCluster, useSharedCluster } from './use-cluster.ts';

const migrator = 'storage-version-migrator-controller';
const collector = 'storageversion-garbage-collector-controller';
const apis = mergeApis(migrationApis, storageVersionApis);
const cluster = useCluster(apis);
let clients: ClientBuilder;
let client: Client;

beforeAll(async () => {
  const connection = await loadKubeconfig({ path: cluster().kubeconfig() }, systemClock);
  clients = new ClientBuilder({ connection, clock: systemClock, userAgent: 'storage-versions' });
  client = clients.clientFor('storage-versions');
});
afterAll(() => clients.close());

/** The state of all objects that are named after a namespace, as if that were called `play`. */
async function stateOf(namespace: string, kinds: readonly Kind[], signal: AbortSignal): Promise<State> {
  const { objects } = await dumpState(client, { namespace, kinds }, signal);
  const isOwn = ({ namespace: place = '', name }: KubeObject['metadata']): boolean =>
    `${place} ${name}`.includes(namespace);
  const text = JSON.stringify(objects.filter(({ object }) => isOwn(object.metadata)));
  return { namespace: 'play', objects: JSON.parse(text.replaceAll(namespace, 'play')) as State['objects'] };
}

describe('migrations', () => {
  /** Refuses every update of a resource. */
  async function refuseUpdates(user: MigrationUser, kind: Kind, signal: AbortSignal): Promise<void> {
    const { group, resource } = kind;
    const name = `${user.namespace}-refuse`;
    const rule = { apiGroups: [group], apiVersions: ['*'], operations: ['UPDATE'], resources: [resource] };
    const validations = [{ expression: 'false', message: 'not today' }];
    const post = (kindOfPolicy: string, spec: object): Promise<unknown> => {
      const path = `/apis/admissionregistration.k8s.io/v1/${kindOfPolicy}`;
      return client.request({ method: 'POST', path, body: { metadata: { name }, spec } }, signal);
    };
    await post('validatingadmissionpolicies', { matchConstraints: { resourceRules: [rule] }, validations });
    await post('validatingadmissionpolicybindings', { policyName: name, validationActions: ['Deny'] });
    const patch = { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } } as const;
    await eventually(
      () =>
        client.patch(kind, objectKey(user.namespace, 'a'), patch, signal).then(
          () => false,
          (error: unknown) => isInvalid(error) || isForbidden(error),
        ),
      signal,
    );
  }

  interface Ground {
    readonly user: MigrationUser;
    readonly widgets: Kind<UntypedObject>;
    readonly gadgets: Kind<UntypedObject>;
  }

  /** Two resources with objects in an old version. Those of the second cannot be written. */
  async function prepare(prefix: string, signal: AbortSignal): Promise<Ground> {
    const user = { client, namespace: await createNamespace(cluster(), prefix) };
    const widgets = await defineVersioned(user, 'widgets', ['a', 'b', 'c'], signal);
    const gadgets = await defineVersioned(user, 'gadgets', ['a'], signal);
    for (const kind of [widgets, gadgets]) await storeAs(user, kind, 'v2', signal);
    await refuseUpdates(user, gadgets, signal);
    return { user, widgets, gadgets };
  }

  /**
   * Waits for a migration. The Go manager migrates only what its cache has seen change since: so something changes.
   */
  async function untilOver(
    user: MigrationUser,
    key: ObjectKey,
    kind: Kind | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await untilVersionRecorded(user, key, signal);
    const metadata = { namespace: user.namespace, name: `after-${key}` };
    if (kind !== undefined) await client.create(kind, { metadata }, signal);
    await untilMigrated(user, key, signal);
    if (kind !== undefined) await client.delete(kind, objectKey(metadata.namespace, metadata.name), {}, signal);
  }

  interface Outcome {
    readonly state: State;
    /** The objects that were written. */
    readonly written: readonly string[];
  }

  async function play(manager: ManagerName, signal: AbortSignal): Promise<Outcome> {
    const { user, widgets, gadgets } = await prepare(manager, signal);
    const before = await versionsOf(user, widgets, signal);
    const controllers = ['garbage-collector-controller', migrator];
    const stop = await startEither(manager, cluster(), { controllers, flags: [migrationGates] });
    try {
      const ask = async (name: string, kind: Kind): Promise<void> =>
        untilOver(user, await migrate(user, name, kind, signal), kind, signal);
      const unsuitable = await migrate(user, 'unsuitable', { resource: 'componentstatuses' }, signal);
      const both = async (): Promise<void> => {
        const keys = [await migrate(user, 'first', widgets, signal), await migrate(user, 'second', widgets, signal)];
        for (const key of keys) await untilOver(user, key, widgets, signal);
      };
      await Promise.all([
        both(),
        ask('refused', gadgets),
        ask('built-in', ConfigMaps),
        untilMigrated(user, unsuitable, signal),
      ]);
    } finally {
      await stop();
    }
    const after = await versionsOf(user, widgets, signal);
    return {
      state: await stateOf(
        user.namespace,
        [CustomResourceDefinitions, StorageVersionMigrations, widgets, gadgets],
        signal,
      ),
      written: [...after].flatMap(([name, version]) => (before.get(name) === version ? [] : [name])),
    };
  }

  test('of custom and other resources end as with the Go manager', async ({ signal }) => {
    const ours = await play('ours', signal);
    const go = await play('go', signal);
    expect(ours.written).toEqual(['a', 'b', 'c']);
    expect(go.written).toEqual(['a', 'b', 'c']);
    const ignore = ['StorageVersionMigration:status.resourceVersion'];
    // The Go manager forgets the old version after a failure too, although objects are stored in it.
    expect(compareStates(ours.state, go.state, { names: ['ours', 'go'], ignore })).toEqual([
      'CustomResourceDefinition gadgets.play.example.com: status.storedVersions[0]: ours "v1", go "v2"',
      'CustomResourceDefinition gadgets.play.example.com: status.storedVersions[1]: ours "v2", go has none',
    ]);
  });

  test('go on with another process, and leave alone what has been written since', async ({ signal }) => {
    const user = { client, namespace: await createNamespace(cluster()) };
    const names = Array.from({ length: 40 }, (_, index) => `w${String(index)}`);
    const widgets = await defineVersioned(user, 'widgets', names, signal);
    await storeAs(user, widgets, 'v2', signal);
    const flags = [
      '--leader-elect=false',
      '--use-service-account-credentials=true',
      migrationGates,
      `--controllers=${migrator}`,
    ];
    // Slow enough to be killed before it is done: its client has ten requests a second.
    const slow = await startManager(cluster(), [...flags, '--kube-api-qps=0.5', '--kube-api-burst=1']);
    const key = await migrate(user, 'move', widgets, signal);
    const before = await versionsOf(user, widgets, signal);
    const isWritten = ([name, version]: readonly [string, string]): boolean => before.get(name) !== version;
    await eventually(async () => [...(await versionsOf(user, widgets, signal))].some(isWritten), signal);
    await slow.kill();
    const halfway = await versionsOf(user, widgets, signal);
    expect([...halfway].filter(isWritten).length).toBeLessThan(names.length);
    const manager = await startManager(cluster(), flags);
    const { status } = await untilMigrated(user, key, signal);
    expect(status?.conditions?.map(({ type, status: is }) => `${type} ${is}`)).toEqual([
      'Running False',
      'Succeeded True',
    ]);
    const after = await versionsOf(user, widgets, signal);
    expect([...after].every(isWritten)).toBe(true);
    for (const [name, version] of [...halfway].filter(isWritten)) expect(after.get(name)).toBe(version);
    expect(await manager.stop()).toBe(0);
  });
});

describe('what API servers have recorded about their storage versions', () => {
  async function play(manager: ManagerName, signal: AbortSignal): Promise<State> {
    const user = { client, namespace: await createNamespace(cluster(), manager) };
    for (const server of ['first', 'second', 'third']) await startServer(user, server, signal);
    const stop = await startEither(manager, cluster(), { controllers: [collector], flags: [storageVersionGates] });
    try {
      await recordVersions(user, 'agreed', { first: 'v1', second: 'v1', third: 'v1' }, signal);
      await recordVersions(user, 'divided', { first: 'v1', second: 'v2', third: 'v3' }, signal);
      await recordVersions(user, 'changed', { first: 'v1', second: 'v2' }, signal);
      await recordVersions(user, 'alone', { first: 'v1' }, signal);
      await recordVersions(user, 'unknown', { second: 'v1', never: 'v1' }, signal);
      await recordVersions(user, 'phantom', { never: 'v1' }, signal);
      await untilRecorded(user, 'unknown', ['second'], signal);
      await endServer(user, 'first', signal);
      for (const resource of ['agreed', 'divided']) await untilRecorded(user, resource, ['second', 'third'], signal);
      await untilRecorded(user, 'changed', ['second'], signal);
      for (const resource of ['alone', 'phantom']) await untilRecorded(user, resource, [], signal);
      return await stateOf(user.namespace, [StorageVersions], signal);
    } finally {
      await stop();
    }
  }

  test('goes with them, as with the Go manager', async ({ signal }) => {
    const [ours, go] = [await play('ours', signal), await play('go', signal)];
    expect(ours.objects.map(({ object }) => object.metadata.name)).toEqual([
      'play.agreed',
      'play.changed',
      'play.divided',
      'play.unknown',
    ]);
    expect(compareStates(ours, go, { names: ['ours', 'go'] })).toEqual([]);
  });
});

test('a manager whose gates are on gets on without the APIs', async ({ signal }) => {
  const flags = ['--leader-elect=false', gatesFlag(apis), `--controllers=${migrator},${collector}`];
  const manager = await startManager(useSharedCluster(), flags);
  await eventually(async () => manager.logs().includes('StorageVersionMigrations are not served'), signal);
  await eventually(async () => manager.logs().includes('StorageVersions are not served'), signal);
  for (const path of ['/healthz', '/readyz']) expect((await manager.get(path)).status).toBe(200);
  expect(await manager.stop()).toBe(0);
});
