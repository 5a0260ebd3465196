import { int64Of, parseTime, type Cached, type ControllerRevision } from '../api/index.ts';

type Revision = Cached<ControllerRevision>;

/** From the oldest to the newest: by number, then by creation, then by name. */
export function sortRevisions(revisions: readonly Revision[]): Revision[] {
  return [...revisions].sort((a, b) => {
    const [numberA, numberB] = [int64Of(a.revision), int64Of(b.revision)];
    if (numberA !== numberB) return numberA < numberB ? -1 : 1;
    const createdMs = ({ metadata }: Revision): number => parseTime(metadata.creationTimestamp) ?? 0;
    return createdMs(a) - createdMs(b) || (a.metadata.name < b.metadata.name ? -1 : 1);
  });
}

/** One more than the highest number: 1 without revisions. */
export function nextRevisionNumber(revisions: readonly Revision[]): bigint {
  return revisions.reduce((highest, { revision }) => max(highest, int64Of(revision)), 0n) + 1n;
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * The old revisions beyond the history limit, from the oldest on. Revisions in use stay, even if more than the limit
 * are in use.
 */
export function selectSurplusRevisions(
  old: readonly Revision[],
  limit: number,
  isInUse: (revision: Revision) => boolean,
): Revision[] {
  const surplus = Math.max(0, old.length - limit);
  return sortRevisions(old)
    .filter((revision) => !isInUse(revision))
    .slice(0, surplus);
}
