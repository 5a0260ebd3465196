import {
  CustomResourceDefinitions,
  defineKind,
  findCondition,
  isConditionTrue,
  objectKey,
  StorageVersionMigrations,
  type Kind,
  type ObjectKey,
  type StorageVersionMigration,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';

export interface MigrationUser {
  readonly client: Client;
  /** The namespace of the objects. Definitions and migrations have it in their names. */
  readonly namespace: string;
}

/** A custom resource with two versions. Its group has the name of the namespace. */
export function versionedKind({ namespace }: MigrationUser, resource: string, version = 'v1'): Kind<UntypedObject> {
  const kind = resource[0]?.toUpperCase() + resource.slice(1, -1);
  return defineKind<UntypedObject>({ group: `${namespace}.example.com`, version, kind, resource, namespaced: true });
}

const definitionKey = ({ group, resource }: Kind): ObjectKey => objectKey(undefined, `${resource}.${group}`);

/** An object that shows in which version the server stores objects. */
const probeName = 'probe';

/** Defines a resource whose objects are stored as v1, and creates some. */
export async function defineVersioned(
  user: MigrationUser,
  resource: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Kind<UntypedObject>> {
  const { client, namespace } = user;
  const kind = versionedKind(user, resource);
  const { group, resource: plural } = kind;
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    },
  };
  const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema }));
  const spec = { group, scope: 'Namespaced', names: { plural, kind: kind.kind }, versions };
  await client.create(CustomResourceDefinitions, { metadata: { name: `${plural}.${group}` }, spec }, signal);
  await eventually(() => client.list(kind, { namespace }, signal), signal);
  for (const name of [...names, probeName])
    await client.create(kind, { metadata: { namespace, name }, spec: { size: 1 } }, signal);
  return kind;
}

/** Stores new objects in this version from now on. Waits until the server does so. */
export async function storeAs(
  { client, namespace }: MigrationUser,
  kind: Kind,
  stored: string,
  signal: AbortSignal,
): Promise<void> {
  const key = definitionKey(kind);
  const { spec } = await client.get(CustomResourceDefinitions, key, signal);
  const versions = spec.versions.map((version) => ({ ...version, storage: version.name === stored }));
  await client.patch(CustomResourceDefinitions, key, { type: 'merge', body: { spec: { versions } } }, signal);
  const probe = objectKey(namespace, probeName);
  const { metadata } = await client.get(kind, probe, signal);
  await eventually(async () => {
    // A patch that changes nothing is written only if the object is stored in another version.
    const patched = await client.patch(kind, probe, { type: 'merge', body: {} }, signal);
    return patched.metadata.resourceVersion !== metadata.resourceVersion;
  }, signal);
  await client.delete(kind, probe, {}, signal);
}

/** Asks for a migration. */
export async function migrate(
  { client, namespace }: MigrationUser,
  name: string,
  resource: { readonly group?: string; readonly resource: string },
  signal: AbortSignal,
): Promise<ObjectKey> {
  const metadata = { name: `${namespace}-${name}` };
  const spec = { resource: { group: resource.group ?? '', resource: resource.resource } };
  await client.create(StorageVersionMigrations, { metadata, spec }, signal);
  return objectKey(undefined, metadata.name);
}

/** The migration once it has ended, well or badly. */
export function untilMigrated(
  { client }: MigrationUser,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<StorageVersionMigration> {
  return eventually(async () => {
    const migration = await client.get(StorageVersionMigrations, key, signal);
    const { conditions } = migration.status ?? {};
    const isOver = ['Succeeded', 'Failed'].some((type) => isConditionTrue(conditions, type));
    return isOver && findCondition(conditions, 'Running')?.status !== 'True' && migration;
  }, signal);
}

/** The resource versions of all objects, by name. A write changes them. */
export async function versionsOf(
  { client, namespace }: MigrationUser,
  kind: Kind,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { items } = await client.listAll(kind, { namespace }, signal);
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
}

/** Waits until it is recorded where the migration begins, or why it cannot. */
export async function untilRecorded({ client }: MigrationUser, key: ObjectKey, signal: AbortSignal): Promise<void> {
  await eventually(async () => {
    const { status } = await client.get(StorageVersionMigrations, key, signal);
    return (status?.resourceVersion ?? '') !== '' || isConditionTrue(status?.conditions, 'Failed');
  }, signal);
}
