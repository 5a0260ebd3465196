import {
  formatMicroTime,
  Leases,
  objectKey,
  StorageVersions,
  type ObjectKey,
  type StorageVersion,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';

/** Acts as API servers do. The names of all objects begin with that of the namespace. */
export interface ServersUser {
  readonly client: Client;
  readonly namespace: string;
}

const idOf = ({ namespace }: ServersUser, server: string): string => `${namespace}-${server}`;
/** StorageVersions are named after a group and a resource. */
const versionKey = ({ namespace }: ServersUser, resource: string): ObjectKey =>
  objectKey(undefined, `${namespace}.${resource}`);

/** A server comes up: its lease says that it is there. */
export async function startServer(user: ServersUser, server: string, signal: AbortSignal): Promise<void> {
  const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' };
  const metadata = { namespace: 'kube-system', name: idOf(user, server), labels };
  const spec = { holderIdentity: server, leaseDurationSeconds: 3600, renewTime: formatMicroTime(Date.now()) };
  await user.client.create(Leases, { metadata, spec }, signal);
}

/** A server has gone, and another one deletes its lease. */
export async function endServer(user: ServersUser, server: string, signal: AbortSignal): Promise<void> {
  await user.client.delete(Leases, objectKey('kube-system', idOf(user, server)), {}, signal);
}

/** Servers record in which version they store a resource: `{ first: 'apps/v1' }`. */
export async function recordVersions(
  user: ServersUser,
  resource: string,
  encodings: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const { client } = user;
  const name = `${user.namespace}.${resource}`;
  const created = await client.create(StorageVersions, { metadata: { name }, spec: {} }, signal);
  const storageVersions = Object.entries(encodings).map(([server, encodingVersion]) => ({
    apiServerID: idOf(user, server),
    encodingVersion,
    decodableVersions: [encodingVersion],
  }));
  const versions = new Set(Object.values(encodings));
  const [commonEncodingVersion] = versions.size === 1 ? versions : [];
  await client.updateStatus(
    StorageVersions,
    { ...created, status: { storageVersions, commonEncodingVersion } },
    signal,
  );
}

/** Waits until only these servers have a record; none: until the object is gone. */
export async function untilRecorded(
  user: ServersUser,
  resource: string,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const wanted = servers.map((server) => idOf(user, server)).join();
  await eventually(async () => recordsOf(await find(user, resource, signal)) === wanted, signal);
}

function recordsOf(version: StorageVersion | undefined): string {
  return (version?.status?.storageVersions ?? []).map(({ apiServerID }) => apiServerID).join();
}

async function find(user: ServersUser, resource: string, signal: AbortSignal): Promise<StorageVersion | undefined> {
  try {
    return await user.client.get(StorageVersions, versionKey(user, resource), signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
