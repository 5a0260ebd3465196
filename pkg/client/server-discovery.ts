import { apiVersionOf, type Kind } from '../api/index.ts';
import type { Client } from './client.ts';
import {
  acceptAggregated,
  parseAggregated,
  parseCoreVersions,
  parseGroupList,
  parseResourceList,
  type DiscoveredGroup,
  type DiscoveredVersion,
} from './discovery-documents.ts';
import type { DiscoveredResource, Discovery, DiscoveryResult } from './discovery.ts';
import { isNotFound } from './errors.ts';

interface Snapshot {
  readonly all: DiscoveryResult;
  readonly preferred: DiscoveryResult;
  readonly byKind: ReadonlyMap<string, Kind>;
}

/** Discovers resources through `client` and caches them. When a refresh fails, the cache stays as it is. */
export function createDiscovery(client: Pick<Client, 'request'>): Discovery {
  let known: Snapshot | undefined;

  async function fetchAll(signal: AbortSignal): Promise<Snapshot> {
    // Callers do not share a request: a response in flight may be older than the state that the second caller knows.
    known = await discover(client, signal);
    return known;
  }

  const snapshot = async (signal: AbortSignal): Promise<Snapshot> => known ?? fetchAll(signal);
  return {
    preferred: async (signal) => (await snapshot(signal)).preferred,
    all: async (signal) => (await snapshot(signal)).all,
    async kindFor(apiVersion, kind, signal) {
      const name = `${apiVersion}/${kind}`;
      return known?.byKind.get(name) ?? (await fetchAll(signal)).byKind.get(name);
    },
    async refresh(signal) {
      await fetchAll(signal);
    },
  };
}

async function discover(client: Pick<Client, 'request'>, signal: AbortSignal): Promise<Snapshot> {
  const [core, others] = await Promise.all([
    discoverRoot(client, '/api', signal),
    discoverRoot(client, '/apis', signal),
  ]);
  return snapshotOf([...core, ...others]);
}

async function discoverRoot(
  client: Pick<Client, 'request'>,
  root: '/api' | '/apis',
  signal: AbortSignal,
): Promise<DiscoveredGroup[]> {
  const headers = { Accept: acceptAggregated };
  const document = await client.request({ method: 'GET', path: root, headers }, signal);
  const aggregated = parseAggregated(document);
  if (aggregated !== undefined) return aggregated;
  const groups = root === '/api' ? [parseCoreVersions(document)] : parseGroupList(document);
  return Promise.all(
    groups.map(async (versions) => ({
      versions: await Promise.all(versions.map((version) => discoverVersion(client, root, version, signal))),
    })),
  );
}

async function discoverVersion(
  client: Pick<Client, 'request'>,
  root: string,
  groupVersion: string,
  signal: AbortSignal,
): Promise<DiscoveredVersion> {
  try {
    const document = await client.request({ method: 'GET', path: `${root}/${groupVersion}` }, signal);
    return { groupVersion, resources: parseResourceList(groupVersion, document) };
  } catch (error) {
    signal.throwIfAborted();
    if (isNotFound(error)) return { groupVersion, resources: [] }; // deleted since the groups were listed
    // One broken aggregated API server must not hide the other resources.
    return { groupVersion, resources: [], failure: error instanceof Error ? error.message : String(error) };
  }
}

function snapshotOf(groups: readonly DiscoveredGroup[]): Snapshot {
  const versions = groups.flatMap((group) => group.versions);
  const all = versions.flatMap(({ resources }) => resources);
  const failures = new Map<string, string>();
  for (const { groupVersion, failure } of versions) {
    if (failure !== undefined) failures.set(groupVersion, failure);
  }
  const byKind = new Map<string, Kind>();
  for (const { kind } of all.toReversed()) byKind.set(`${apiVersionOf(kind)}/${kind.kind}`, kind); // the first one wins
  return { all: { resources: all, failures }, preferred: { resources: groups.flatMap(preferredOf), failures }, byKind };
}

/** The preferred version of a resource is the first version of its group that has it. */
function preferredOf({ versions }: DiscoveredGroup): DiscoveredResource[] {
  const preferred = new Map<string, DiscoveredResource>();
  for (const resource of versions.flatMap(({ resources }) => resources)) {
    if (!preferred.has(resource.kind.resource)) preferred.set(resource.kind.resource, resource);
  }
  return [...preferred.values()];
}
