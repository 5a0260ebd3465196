/** The leader election record in a Lease. Times are MicroTimes as text. */
export interface ElectionRecord {
  /** Empty when there is no leader. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
  /** How often the holder has changed. */
  readonly leaseTransitions: number;
  /** Who is to hold the lease next. Only the API server writes it, in a coordinated election. */
  readonly preferredHolder?: string | undefined;
}

/** A record, and the time of this process's monotonic clock at which it was first observed in this state. */
export interface Observation {
  /** Absent when there is no lease. */
  readonly record: ElectionRecord | undefined;
  /** The last record of a deleted lease. Its holder may still lead until that record expires. */
  readonly deleted?: ElectionRecord | undefined;
  readonly sinceMs: number;
}

export interface Candidate {
  readonly identity: string;
  readonly leaseDurationSeconds: number;
}

export type Decision =
  /** Write this record: the lease is released, expired or absent. */
  | { readonly kind: 'acquire'; readonly record: ElectionRecord }
  /** Write this record: this candidate holds the lease. */
  | { readonly kind: 'renew'; readonly record: ElectionRecord }
  /** Another candidate holds the lease and may still lead. */
  | { readonly kind: 'wait'; readonly holder: string }
  /** This candidate was the leader, and another one holds the lease now. */
  | { readonly kind: 'lost'; readonly holder: string };

export interface DecideInput {
  readonly candidate: Candidate;
  /** Whether this candidate is the leader, with its work running. */
  readonly leading: boolean;
  readonly observed: Observation;
  /** Monotonic, like `observed.sinceMs`. */
  readonly nowMs: number;
  /** The MicroTime to write. No candidate decides by it, because the clocks of two machines may differ. */
  readonly time: string;
}

/**
 * Records an observation. Only a change of the record restarts its age. A live holder changes its record with every
 * renewal, so a record that has not changed for a lease duration of the local clock has expired.
 */
export function observe(
  before: Observation | undefined,
  record: ElectionRecord | undefined,
  nowMs: number,
): Observation {
  if (before !== undefined && record === undefined) {
    return { record, deleted: before.record ?? before.deleted, sinceMs: before.sinceMs };
  }
  return before !== undefined && isSameRecord(before.record, record) ? before : { record, sinceMs: nowMs };
}

export function decide({ candidate, leading, observed, nowMs, time }: DecideInput): Decision {
  const { record, deleted, sinceMs } = observed;
  const isOver = ({ leaseDurationSeconds }: ElectionRecord): boolean => nowMs >= sinceMs + leaseDurationSeconds * 1000;
  const fresh = { ...candidateFields(candidate), acquireTime: time, renewTime: time };
  if (record === undefined) {
    const holder = deleted === undefined || leading || isOver(deleted) ? '' : deleted.holderIdentity;
    if (holder !== '' && holder !== candidate.identity) return { kind: 'wait', holder };
    return { kind: 'acquire', record: { ...fresh, leaseTransitions: 0 } };
  }

  const { holderIdentity: holder, acquireTime, leaseTransitions } = record;
  if (holder === candidate.identity) return { kind: 'renew', record: { ...fresh, acquireTime, leaseTransitions } };
  const free = holder === '' || isOver(record);
  // The last write of this leader has been replaced, so it has lost the lease, even if the new record has expired.
  if (leading && holder !== '') return { kind: 'lost', holder };
  if (!free) return { kind: 'wait', holder };
  return { kind: 'acquire', record: { ...fresh, leaseTransitions: leaseTransitions + 1 } };
}

/**
 * The decision in a coordinated election. The API server chooses the holder: a candidate writes only a lease that it has
 * been given, and ends its term when another one is to be next. The record must not have expired, because then the API
 * server may be about to give the lease to another candidate.
 */
export function decideCoordinated({ candidate, leading, observed, nowMs, time }: DecideInput): Decision {
  const { record, sinceMs } = observed;
  if (record === undefined) return { kind: 'wait', holder: '' };
  const { holderIdentity: holder, leaseDurationSeconds, acquireTime, leaseTransitions, preferredHolder = '' } = record;
  const isOver = nowMs >= sinceMs + leaseDurationSeconds * 1000;
  if (holder !== candidate.identity) return { kind: leading && holder !== '' ? 'lost' : 'wait', holder };
  if (preferredHolder !== '') return { kind: leading ? 'lost' : 'wait', holder: preferredHolder };
  if (isOver) return { kind: 'wait', holder };
  const fresh = { ...candidateFields(candidate), renewTime: time };
  return { kind: 'renew', record: { ...fresh, acquireTime: acquireTime ?? time, leaseTransitions } };
}

/** The record of a released lease, which the next candidate can acquire at once. The API's shortest duration is 1 s. */
export function planRelease(record: ElectionRecord, time: string): ElectionRecord {
  const { preferredHolder: _next, ...own } = record;
  return { ...own, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
}

function candidateFields(candidate: Candidate): Pick<ElectionRecord, 'holderIdentity' | 'leaseDurationSeconds'> {
  return { holderIdentity: candidate.identity, leaseDurationSeconds: candidate.leaseDurationSeconds };
}

function isSameRecord(a: ElectionRecord | undefined, b: ElectionRecord | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.holderIdentity === b.holderIdentity &&
    a.leaseDurationSeconds === b.leaseDurationSeconds &&
    a.acquireTime === b.acquireTime &&
    a.renewTime === b.renewTime &&
    a.leaseTransitions === b.leaseTransitions &&
    a.preferredHolder === b.preferredHolder
  );
}
