import { parseTime, type Cached, type Kind, type StorageVersionMigration } from '../../pkg/api/index.ts';
import type { Discovery, DiscoveredResource, DiscoveryResult } from '../../pkg/client/index.ts';
import { targetOf } from './turns.ts';

const neededVerbs = ['update', 'patch', 'list'];
/** A resource that was just defined may be missing from discovery for a while. */
const appearsWithinMs = 60_000;
/** How often a resource that is not served yet is looked for. */
export const recheckMs = 2000;

export type Target =
  | { readonly state: 'served'; readonly kind: Kind }
  /** It may yet be served. */
  | { readonly state: 'awaited' }
  | { readonly state: 'absent' }
  | { readonly state: 'unsuitable'; readonly problem: string };

/** The resource of a migration as the server serves it. What cannot be migrated is looked up anew. */
export async function findTarget(
  migration: Cached<StorageVersionMigration>,
  { discovery, nowMs }: { readonly discovery: Discovery; readonly nowMs: number },
  signal: AbortSignal,
): Promise<Target> {
  const known = judgeTarget(migration, await discovery.preferred(signal), nowMs);
  if (known.state === 'served') return known;
  await discovery.refresh(signal);
  return judgeTarget(migration, await discovery.preferred(signal), nowMs);
}

export function judgeTarget(
  migration: Cached<StorageVersionMigration>,
  { resources, failures }: DiscoveryResult,
  nowMs: number,
): Target {
  const { group, resource } = targetOf(migration);
  const found = resources.find(({ kind }) => kind.group === group && kind.resource === resource);
  if (found !== undefined) return judgeVerbs(found);
  // A group that cannot be discovered now, as that of an aggregated API, is unknown, not absent.
  const isUnknown = [...failures.keys()].some((apiVersion) => apiVersion.startsWith(`${group}/`));
  const createdMs = parseTime(migration.metadata.creationTimestamp) ?? 0;
  return isUnknown || nowMs < createdMs + appearsWithinMs ? { state: 'awaited' } : { state: 'absent' };
}

function judgeVerbs({ kind, verbs }: DiscoveredResource): Target {
  if (neededVerbs.every((verb) => verbs.has(verb))) return { state: 'served', kind };
  const problem = `resource "${idOf(kind)}" does not support discovery operations: [${neededVerbs.join(' ')}]`;
  return { state: 'unsuitable', problem };
}

/** The resource in conditions, in the words of the Go binary. */
export function idOf({ group, version, resource }: Kind): string {
  return `${group}/${version}, Resource=${resource}`;
}
