/** What a Lease says about who leads. Times are MicroTimes as they stand on the wire. */
export interface ElectionRecord {
  /** Empty when nobody leads. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
  /** How often the lease has changed hands. */
  readonly leaseTransitions: number;
}

/** A record and when, by this process's monotonic clock, it was first seen to be as it is. */
export interface Observation {
  /** Absent when there is no lease. */
  readonly record: ElectionRecord | undefined;
  /** The last record of a lease that was deleted. Its holder may be at work until that record has run out. */
  readonly deleted?: ElectionRecord | undefined;
  readonly sinceMs: number;
}

export interface Candidate {
  readonly identity: string;
  readonly leaseDurationSeconds: number;
}

export type Decision =
  /** Write this record: the lease is free, expired or missing. */
  | { readonly kind: 'acquire'; readonly record: ElectionRecord }
  /** Write this record: the lease is ours. */
  | { readonly kind: 'renew'; readonly record: ElectionRecord }
  /** Another holds the lease and may still be at work. */
  | { readonly kind: 'wait'; readonly holder: string }
  /** We led, and another holds the lease now. */
  | { readonly kind: 'lost'; readonly holder: string };

export interface DecideInput {
  readonly candidate: Candidate;
  /** Whether the candidate's work is running. */
  readonly leading: boolean;
  readonly observed: Observation;
  /** Monotonic, like `observed.sinceMs`. */
  readonly nowMs: number;
  /** The MicroTime to write down. Nobody judges by it: the clocks of two machines need not agree. */
  readonly time: string;
}

/**
 * Takes note of a record. Only a change starts the count anew: a holder that is alive changes its record with every
 * renewal, so one that has not changed it for a lease duration of our own time has gone.
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
  // Our own write would have shown up here. That another's stands instead means that our term is over, expired or not.
  if (leading && holder !== '') return { kind: 'lost', holder };
  if (!free) return { kind: 'wait', holder };
  return { kind: 'acquire', record: { ...fresh, leaseTransitions: leaseTransitions + 1 } };
}

/** The record that lets the next candidate take over at once. One second is the shortest duration the API accepts. */
export function planRelease(record: ElectionRecord, time: string): ElectionRecord {
  return { ...record, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
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
    a.leaseTransitions === b.leaseTransitions
  );
}
