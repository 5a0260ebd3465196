import {
  int64Of,
  ownValue,
  type Cached,
  type ControllerRevision,
  type DaemonSet,
  type Pod,
} from '../../pkg/api/index.ts';
import {
  nextRevisionNumber,
  revisionData,
  revisionHashLabel,
  selectSurplusRevisions,
  templatePatch,
} from '../../pkg/revisions/index.ts';

type Revision = Cached<ControllerRevision>;

/** The changes of a DaemonSet's revisions. */
export interface HistoryPlan {
  /** Revisions without a hash: they get their name as the hash, which no other revision has. */
  readonly unlabelled: readonly Revision[];
  /** The revision of the current template; undefined if it has to be created. */
  readonly current: Revision | undefined;
  /** The hash of the current revision; undefined if it has to be created. */
  readonly hash: string | undefined;
  /** Others of the same template. Their pods move to the current revision before they are deleted. */
  readonly duplicates: readonly Revision[];
  readonly old: readonly Revision[];
  /** The number of the current revision. */
  readonly revision: bigint;
}

/** Finds the revision of the current template. Its number must be the highest of all. */
export function planHistory(daemonSet: Cached<DaemonSet>, revisions: readonly Revision[]): HistoryPlan {
  const data = templatePatch(daemonSet, 'int64');
  const same = revisions.filter((revision) => revisionData(revision) === data);
  const old = revisions.filter((revision) => !same.includes(revision));
  const current = same.reduce<Revision | undefined>(
    (kept, one) => (kept === undefined || int64Of(one.revision) >= int64Of(kept.revision) ? one : kept),
    undefined,
  );
  const next = nextRevisionNumber(old);
  const present = current === undefined ? 0n : int64Of(current.revision);
  return {
    unlabelled: revisions.filter(({ metadata }) => ownValue(metadata.labels, revisionHashLabel) === undefined),
    current,
    hash: current === undefined ? undefined : hashOf(current),
    duplicates: same.filter((revision) => revision !== current),
    old,
    revision: present > next ? present : next,
  };
}

/** The hash of a revision, also of one that is about to be labelled. */
export function hashOf({ metadata: { labels, name } }: Pick<Revision, 'metadata'>): string {
  return ownValue(labels, revisionHashLabel) ?? name;
}

/** The old revisions to delete: beyond the limit, and without a pod. */
export function selectSurplus(
  { spec: { revisionHistoryLimit = 10 } }: Cached<DaemonSet>,
  old: readonly Revision[],
  pods: readonly Cached<Pod>[],
): Revision[] {
  if (old.length <= revisionHistoryLimit) return [];
  const inUse = new Set(pods.map(({ metadata }) => ownValue(metadata.labels, revisionHashLabel)));
  return selectSurplusRevisions(old, revisionHistoryLimit, (revision) => inUse.has(hashOf(revision)));
}
