import { randomUUID } from 'node:crypto';

import { formatMicroTime, Leases } from '../api/index.ts';
import { isAlreadyExists, isConflict } from '../client/index.ts';
import { formatDuration, systemRandom, withTimeLimit } from '../time/index.ts';
import {
  decide,
  decideCoordinated,
  observe,
  planRelease,
  type Candidate,
  type Decision,
  type Observation,
} from './decide.ts';
import { checkDurations, jitterFactor, leaseSeconds } from './durations.ts';
import type { LeaderElectionOptions } from './election-options.ts';
import { LeaderLostError } from './leader-lost-error.ts';
import { LeaseLock, recordOf, type LeaseName } from './lease-lock.ts';

/**
 * Does the work of a leader until the signal aborts. When it settles, all of its work has stopped. `leaseLost` aborts when
 * the lease is lost, even while the work is stopping: from then on another process may lead.
 */
export type Lead = (leadingSignal: AbortSignal, leaseLost: AbortSignal) => Promise<void>;

type Attempt = { readonly kind: 'held' | 'failed' } | Exclude<Decision, { readonly record: unknown }>;
type Outcome = { readonly kind: 'done' } | { readonly kind: 'failed'; readonly error: unknown };

/** How long a leader counts as healthy after its lease expired. It should have exited long before. */
const healthToleranceMs = 20_000;

/** Unique, so that two processes on one host do not mistake each other's lease for their own. */
export function newIdentity(hostname: string): string {
  return `${hostname}_${randomUUID()}`;
}

export interface LeaseInspection {
  readonly lock: LeaseName;
  /** Empty if no holder was observed. */
  readonly holder: string;
  readonly isOurs: boolean;
  /** Since its record was last seen to change. Undefined before the first observation. */
  readonly renewedAgoMs: number | undefined;
  readonly durationMs: number;
}

/**
 * One candidate for one lease, by the rules of client-go, so that a Go manager can be the standby of this one.
 *
 * Guarantee: the leading signal aborts no later than one renew deadline after the start of the last successful renewal.
 * Other candidates observe that renewal after its start and then wait for the lease duration. So the work has the
 * difference of the two durations to stop.
 */
export class LeaderElector {
  readonly #options: LeaderElectionOptions;
  readonly #candidate: Candidate;
  readonly #lock: LeaseLock;
  readonly #requestLimitMs: number;
  #observed: Observation | undefined;
  #renewedMs = Number.NEGATIVE_INFINITY;
  /** A write was sent and its response has not arrived: this process may hold the lease without knowing it. */
  #writeInDoubt = false;
  #reportedLeader = '';
  /** Ends the current term as leader. */
  #lose: ((lost: LeaderLostError) => void) | undefined;

  /** Throws `InvalidDurationsError`, or `InvalidIdentityError` for an empty identity. */
  constructor(options: LeaderElectionOptions) {
    checkDurations(options);
    if (options.identity === '') throw new InvalidIdentityError('leader election: the identity must not be empty');
    this.#options = options;
    this.#candidate = { identity: options.identity, leaseDurationSeconds: leaseSeconds(options) };
    this.#lock = new LeaseLock(options.client, options.lock);
    // A hung request must leave time for another one before the deadline.
    this.#requestLimitMs = Math.min(options.renewDeadlineMs, Math.max(1000, options.renewDeadlineMs / 2));
    options.metrics?.setLeading(options.lock.name, false);
  }

  /** The last observed holder of the lease. Empty if no holder was observed. */
  get leader(): string {
    return this.#observed?.record?.holderIdentity ?? '';
  }

  /** The lease as last observed, for people who look. */
  inspect(): LeaseInspection {
    const { lock, clock, leaseDurationMs } = this.#options;
    const renewedAgoMs = this.#observed && clock.monotonic() - this.#observed.sinceMs;
    return { lock, holder: this.leader, isOurs: this.isLeader, renewedAgoMs, durationMs: leaseDurationMs };
  }

  get isLeader(): boolean {
    return this.leader === this.#options.identity;
  }

  /** For /healthz: fails when this process is still the leader long after its lease expired. */
  readonly healthCheck = {
    name: 'leaderElection',
    check: (): string | undefined => {
      const { clock, leaseDurationMs, lock } = this.#options;
      if (!this.isLeader || this.#observed === undefined) return undefined;
      const sinceMs = clock.monotonic() - this.#observed.sinceMs;
      if (sinceMs <= leaseDurationMs + healthToleranceMs) return undefined;
      return `failed election to renew leadership on lease ${lock.name}`;
    },
  } as const;

  /**
   * The clients of the work call this right before each write. After the renew deadline it aborts the leading signal and
   * throws `LeaderLostError`. The timer of the deadline is not enough: a process that was paused (a frozen container, a
   * suspended machine) may handle received data before its timers, and would write while another process leads.
   */
  readonly confirmLease = (): void => {
    const { clock, renewDeadlineMs } = this.#options;
    if (clock.monotonic() < this.#renewedMs + renewDeadlineMs) return;
    const lost = this.#lostError(`not renewed within ${formatDuration(renewDeadlineMs)}`);
    this.#lose?.(lost);
    throw lost;
  };

  /**
   * Acquires the lease, leads, and resolves when the work has stopped and the lease is released: after `signal` aborted
   * or `lead` returned. The lease is renewed while the work is stopping. Rejects with the error of `lead`, or with
   * `LeaderLostError`. In that case `leadingSignal` was aborted with the same error, and the promise rejects when the work
   * has stopped, or shortly before another candidate may lead.
   */
  async run(lead: Lead, signal: AbortSignal): Promise<void> {
    const { logger, lock, metrics, releaseOnCancel } = this.#options;
    const acquired = await this.#acquire(signal);
    if (!acquired || signal.aborted) {
      if (releaseOnCancel && (acquired || this.#writeInDoubt)) await this.#release();
      return;
    }
    this.#recordEvent('became leader');
    metrics?.setLeading(lock.name, true);
    logger.info({ lease: lock }, 'acquired the lease');
    try {
      await this.#lead(lead, signal);
    } finally {
      metrics?.setLeading(lock.name, false);
      this.#recordEvent('stopped leading');
    }
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, logger, lock, renewDeadlineMs, retryPeriodMs, random = systemRandom } = this.#options;
    logger.info({ lease: lock }, 'waiting for the lease');
    while (!signal.aborted) {
      const attempt = await this.#attempt({ leading: false }, signal);
      this.#reportLeader();
      // If the response took so long that the renew deadline has passed, don't start the work.
      if (attempt.kind === 'held' && clock.monotonic() < this.#renewedMs + renewDeadlineMs) return true;
      if (attempt.kind === 'wait') logger.debug({ lease: lock, holder: attempt.holder }, 'lease is held by another');
      await clock.sleep(retryPeriodMs * (1 + jitterFactor * random()), signal).catch(() => undefined);
    }
    return false;
  }

  async #lead(lead: Lead, signal: AbortSignal): Promise<void> {
    const work = new AbortController();
    const leaseLost = new AbortController();
    const passOn = (): void => work.abort(signal.reason);
    signal.addEventListener('abort', passOn, { once: true });
    const finished = new AbortController();
    let unconfirmed: LeaderLostError | undefined;
    this.#lose = (lost) => {
      unconfirmed ??= lost;
      work.abort(lost);
      leaseLost.abort(lost);
      finished.abort();
    };
    const working = settle(lead, work.signal, leaseLost.signal).finally(() => finished.abort());
    try {
      const lost = (await this.#renewUntil(finished.signal)) ?? unconfirmed;
      if (lost !== undefined) {
        work.abort(lost);
        leaseLost.abort(lost);
        await this.#awaitStop(working);
        throw lost;
      }
      if (this.#options.releaseOnCancel) await this.#release();
      const outcome = await working;
      // An error equal to the reason of the abort means that the work stopped as requested.
      if (outcome.kind === 'failed' && !(signal.aborted && outcome.error === signal.reason)) throw outcome.error;
    } finally {
      this.#lose = undefined;
      signal.removeEventListener('abort', passOn);
    }
  }

  /** Renews until the lease is lost. Returns undefined when `finished` aborts. */
  async #renewUntil(finished: AbortSignal): Promise<LeaderLostError | undefined> {
    const { clock, logger, lock, renewDeadlineMs } = this.#options;
    for (;;) {
      const limitMs = Math.max(0, this.#renewedMs + renewDeadlineMs - clock.monotonic());
      try {
        const attempt = await withTimeLimit({ clock, limitMs }, (signal) => this.#renewOnce(signal), finished);
        this.#reportLeader();
        if (attempt.kind === 'lost') return this.#lostError(this.#whyLost(attempt.holder));
        logger.trace({ lease: lock }, 'renewed the lease');
      } catch (error) {
        if (finished.aborted) return undefined;
        return this.#lostError(`not renewed within ${formatDuration(renewDeadlineMs)}`, error);
      }
    }
  }

  async #renewOnce(signal: AbortSignal): Promise<Attempt> {
    for (;;) {
      await this.#options.clock.sleep(this.#options.retryPeriodMs, signal);
      const attempt = await this.#attempt({ leading: true }, signal);
      if (attempt.kind === 'held' || attempt.kind === 'lost') return attempt;
    }
  }

  #whyLost(holder: string): string {
    return this.isLeader ? `${holder} is to hold it next` : `${holder} holds it`;
  }

  #lostError(why: string, cause?: unknown): LeaderLostError {
    const { namespace, name } = this.#options.lock;
    return new LeaderLostError(`lost the lease ${namespace}/${name}: ${why}`, { cause });
  }

  /** One attempt to acquire or renew the lease. A leader writes first, and reads the lease only if that fails. */
  async #attempt({ leading }: { readonly leading: boolean }, signal: AbortSignal): Promise<Attempt> {
    const { clock, logger, lock, metrics } = this.#options;
    try {
      if (leading && this.#observed !== undefined) {
        const optimistic = this.#decide(this.#observed, leading);
        if (optimistic.kind === 'renew' && (await this.#tryWrite(optimistic, signal))) return { kind: 'held' };
      }
      const record = await this.#request((limited) => this.#lock.read(limited), signal);
      this.#observed = observe(this.#observed, record, clock.monotonic());
      const decision = this.#decide(this.#observed, leading);
      if (decision.kind === 'wait' || decision.kind === 'lost') return decision;
      if (leading && decision.kind === 'renew') metrics?.countSlowPath(lock.name);
      await this.#write(decision, signal);
      return { kind: 'held' };
    } catch (error) {
      if (signal.aborted) return { kind: 'failed' };
      if (isConflict(error) || isAlreadyExists(error))
        logger.debug({ lease: lock }, 'another candidate wrote the lease first');
      else logger.error({ lease: lock, err: error }, 'cannot read or write the lease');
      return { kind: 'failed' };
    }
  }

  #decide(observed: Observation, leading: boolean): Decision {
    const { clock, coordinated = false } = this.#options;
    const time = formatMicroTime(clock.now());
    const rule = coordinated ? decideCoordinated : decide;
    return rule({ candidate: this.#candidate, leading, observed, nowMs: clock.monotonic(), time });
  }

  async #tryWrite(decision: Extract<Decision, { readonly record: unknown }>, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#write(decision, signal);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      this.#options.logger.debug({ lease: this.#options.lock, err: error }, 'optimistic renewal failed');
      return false;
    }
  }

  async #write({ record }: Extract<Decision, { readonly record: unknown }>, signal: AbortSignal): Promise<void> {
    // The time before the request: the server cannot have stored the renewal earlier.
    const startedMs = this.#options.clock.monotonic();
    this.#writeInDoubt = true;
    await this.#request((limited) => this.#lock.write(record, limited), signal);
    this.#writeInDoubt = false;
    this.#renewedMs = startedMs;
    this.#observed = {
      record: this.#lock.lease === undefined ? record : recordOf(this.#lock.lease),
      sinceMs: startedMs,
    };
  }

  #request<T>(operation: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    return withTimeLimit({ clock: this.#options.clock, limitMs: this.#requestLimitMs }, operation, signal);
  }

  /** Waits for the work for 90 % of the time until another candidate may lead. The process needs the rest to exit. */
  async #awaitStop(working: Promise<Outcome>): Promise<void> {
    const { clock, logger, lock } = this.#options;
    const expiresMs = this.#renewedMs + this.#candidate.leaseDurationSeconds * 1000;
    const limitMs = Math.max(0, expiresMs - clock.monotonic()) * 0.9;
    try {
      await withTimeLimit({ clock, limitMs }, () => working, new AbortController().signal);
    } catch (error) {
      logger.error({ lease: lock, err: error }, 'work did not stop when the lease was lost');
    }
  }

  /** Must only be called when no work is running. A lease that cannot be released expires. */
  async #release(): Promise<void> {
    const { clock, identity, logger, lock, renewDeadlineMs } = this.#options;
    const release = async (signal: AbortSignal): Promise<void> => {
      const record = await this.#lock.read(signal);
      if (record?.holderIdentity !== identity) return;
      const released = planRelease(record, formatMicroTime(clock.now()));
      await this.#lock.write(released, signal);
      this.#observed = { record: released, sinceMs: clock.monotonic() };
      logger.info({ lease: lock }, 'released the lease');
    };
    try {
      await withTimeLimit({ clock, limitMs: renewDeadlineMs }, release, new AbortController().signal);
    } catch (error) {
      logger.error({ lease: lock, err: error }, 'cannot release the lease');
    }
  }

  #reportLeader(): void {
    if (this.leader === this.#reportedLeader) return;
    this.#reportedLeader = this.leader;
    if (this.leader === '') return;
    try {
      this.#options.onNewLeader?.(this.leader);
    } catch (error) {
      this.#options.logger.error({ err: error }, 'onNewLeader failed'); // an error of the callback must not lose the lease
    }
  }

  #recordEvent(what: string): void {
    const { events, identity } = this.#options;
    const lease = this.#lock.lease;
    if (events === undefined || lease === undefined) return;
    events.event(Leases, lease, { type: 'Normal', reason: 'LeaderElection', message: `${identity} ${what}` });
  }
}

/** Runs one candidate: see `LeaderElector`. */
export async function runLeaderElection(
  options: LeaderElectionOptions,
  lead: Lead,
  signal: AbortSignal,
): Promise<void> {
  await new LeaderElector(options).run(lead, signal);
}

async function settle(lead: Lead, signal: AbortSignal, leaseLost: AbortSignal): Promise<Outcome> {
  try {
    await lead(signal, leaseLost);
    return { kind: 'done' };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/** Two candidates without an identity would both take the lease for their own. */
export class InvalidIdentityError extends Error {
  override readonly name = 'InvalidIdentityError';
  readonly reason = 'InvalidIdentity';
}
