import { startGoControllerManager, type Cluster, type Identity } from '../cluster/index.ts';
import type { AuditedRequest } from './audit-log.ts';
import { startManager } from './manager.ts';

/** Every candidate has its own user in this group, so that the audit log distinguishes them. */
export const candidateGroup = 'candidates';

/** A process that is a candidate for the lease. */
export interface Candidate {
  /** Its user name in the audit log of the API server. */
  readonly user: string;
  /** Pauses it: its connections stay open. */
  pause(): void;
  resume(): void;
  kill(): Promise<void>;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  /** When it ended, in the form of the audit log; undefined while it runs. */
  endedAt(): string | undefined;
}

export interface CandidateOptions {
  readonly controllers: string;
  /** How far its clock is ahead. Only for our own binary. Default: 0. */
  readonly clockShiftMs?: number;
}

/** Short, for many changes of the leader in little time. The ratios are those of the defaults. */
const electionFlags = [
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=4s',
  '--leader-elect-retry-period=1s',
];
const preload = new URL('shifted-clock.ts', import.meta.url).pathname;
let started = 0;

export type StartCandidate = (cluster: Cluster, options: CandidateOptions) => Promise<Candidate>;

export const startOurs: StartCandidate = async (cluster, { controllers, clockShiftMs = 0 }) => {
  const identity = nextIdentity('ours');
  const manager = await startManager(cluster, [...electionFlags, `--controllers=${controllers}`], {
    as: identity,
    until: 'serving',
    env: { NODE_OPTIONS: `--import ${preload}`, CLOCK_SHIFT_MS: String(clockShiftMs) },
  });
  return {
    user: identity.user,
    pause: () => manager.signal('SIGSTOP'),
    resume: () => manager.signal('SIGCONT'),
    kill: () => manager.kill(),
    ...noteEnd(manager.exited),
  };
};

export const startGo: StartCandidate = async (cluster, { controllers }) => {
  const identity = nextIdentity('go');
  const { process } = await startGoControllerManager(cluster, [
    ...electionFlags,
    `--controllers=${controllers}`,
    `--kubeconfig=${cluster.kubeconfig(identity)}`,
    '--use-service-account-credentials=false',
  ]);
  return {
    user: identity.user,
    pause: () => process.pause(),
    resume: () => process.resume(),
    kill: () => process.kill(),
    ...noteEnd(process.exited),
  };
};

function nextIdentity(prefix: string): Identity {
  started += 1;
  return { user: `${prefix}-${String(started)}`, groups: [candidateGroup, 'system:masters'] };
}

function noteEnd(exited: Promise<unknown>): Pick<Candidate, 'exited' | 'endedAt'> {
  let endedAt: string | undefined;
  const ended = exited.then(() => {
    endedAt = new Date().toISOString();
  });
  return { exited: ended, endedAt: () => endedAt };
}

const leaseRead = 'get coordination.k8s.io/leases';
const isRead = ({ action }: AuditedRequest): boolean => action.startsWith('get ');
const isLease = (request: AuditedRequest): boolean =>
  !isRead(request) && request.action.endsWith(' coordination.k8s.io/leases');
/** Events and reviews do not require the lease. */
const isWork = (request: AuditedRequest): boolean =>
  !isRead(request) && !isLease(request) && !/ .*(events|reviews)$/.test(request.action);

/** Requests that succeeded. */
function applied(requests: readonly AuditedRequest[]): AuditedRequest[] {
  return requests
    .filter(({ status }) => status >= 200 && status < 300)
    .toSorted((a, b) => (a.receivedAt < b.receivedAt ? -1 : 1));
}

/** The last writer of the lease: a candidate writes it only to acquire, renew or release it. */
export function leaderOf(requests: readonly AuditedRequest[]): string | undefined {
  return applied(requests).findLast(isLease)?.account;
}

/** The number of writes of the user that require the lease. */
export function countWork(requests: readonly AuditedRequest[], user: string): number {
  return applied(requests).filter((request) => request.account === user && isWork(request)).length;
}

/** How often the user has read the lease and found it. */
export function countLeaseReads(requests: readonly AuditedRequest[], user: string): number {
  return applied(requests).filter(({ account, action }) => account === user && action === leaseRead).length;
}

/**
 * Writes of candidates that did not hold the lease when the server received them. Writes that arrive after a process has
 * ended were in flight before, and do not count.
 */
export function findUnledWork(requests: readonly AuditedRequest[], candidates: readonly Candidate[]): string[] {
  const endedAt = new Map(candidates.map((candidate) => [candidate.user, candidate.endedAt() ?? '9999']));
  const found: string[] = [];
  let leader = '';
  for (const request of applied(requests)) {
    const { account, action, receivedAt } = request;
    if (isLease(request)) leader = account;
    else if (isWork(request) && account !== leader && receivedAt <= (endedAt.get(account) ?? '')) {
      found.push(`${receivedAt} ${account}: ${action}, while ${leader === '' ? 'nobody' : leader} leads`);
    }
  }
  return found;
}
