import {
  copyOf,
  findCondition,
  formatTime,
  type Cached,
  type StorageVersion,
  type StorageVersionStatus,
} from '../../pkg/api/index.ts';

/** What an API server has recorded about the version in which it stores a resource. */
export type ServerRecord = NonNullable<StorageVersionStatus['storageVersions']>[number];

export function recordsOf({ status }: Cached<StorageVersion>): readonly Cached<ServerRecord>[] {
  return status?.storageVersions ?? [];
}

export type RecordsPlan =
  | { readonly kind: 'keep' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'update'; readonly status: StorageVersionStatus };

/** Removes the records of servers that are gone. A StorageVersion without any record is deleted. */
export function planRecords(
  version: Cached<StorageVersion>,
  isGone: (serverId: string) => boolean,
  nowMs: number,
): RecordsPlan {
  const records = recordsOf(version);
  const kept = records.filter(({ apiServerID }) => !isGone(apiServerID));
  if (kept.length === records.length) return { kind: 'keep' };
  if (kept.length === 0) return { kind: 'delete' };
  return { kind: 'update', status: computeStatus(version, kept, nowMs) };
}

/** The status with these records, and what they have in common. */
function computeStatus(
  { metadata, status }: Cached<StorageVersion>,
  kept: readonly Cached<ServerRecord>[],
  nowMs: number,
): StorageVersionStatus {
  const encodings = new Set(kept.map(({ encodingVersion }) => encodingVersion));
  const common = encodings.size === 1 ? kept[0]?.encodingVersion : undefined;
  const type = 'AllEncodingVersionsEqual';
  const before = findCondition(status?.conditions, type);
  const observed = {
    type,
    status: common === undefined ? 'False' : 'True',
    reason: common === undefined ? 'CommonEncodingVersionUnset' : 'CommonEncodingVersionSet',
    message: common === undefined ? 'Common encoding version unset' : 'Common encoding version set',
    observedGeneration: metadata.generation,
  };
  const former = status?.commonEncodingVersion ?? undefined;
  const isOtherVersion = former !== undefined && common !== undefined && former !== common;
  const isTransition = before?.status !== observed.status || isOtherVersion;
  const lastTransitionTime = isTransition ? formatTime(nowMs) : before?.lastTransitionTime;
  const condition = { ...observed, lastTransitionTime } as NonNullable<StorageVersionStatus['conditions']>[number];
  const conditions = status?.conditions ?? [];
  return {
    storageVersions: kept.map((record) => copyOf<ServerRecord>(record)),
    ...(common !== undefined && { commonEncodingVersion: common }),
    conditions:
      before === undefined
        ? [...conditions.map((each) => copyOf(each)), condition]
        : conditions.map((each) => (each.type === type ? condition : copyOf(each))),
  };
}
