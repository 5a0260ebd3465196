import { abortReason, type Clock } from '../time/index.ts';
import type { TlsIdentity } from './tls-options.ts';

/** After a failed renewal, the current identity is used for this long before the next attempt. */
const retryRenewalMs = 10_000;

/** The credentials of one request. Requests with an equal `tls` can share connections. */
export interface Identity {
  readonly tls: TlsIdentity;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
}

/** The credentials of a client. */
export interface Credentials {
  /** Returns the identity while it is valid, or a promise if it must be read, renewed or requested first. */
  current(signal: AbortSignal): Identity | Promise<Identity>;
  /** The server rejected this identity (401). The next `current` gets a new one, if there is one. */
  rejected(identity: Identity): void;
}

/** Credentials that never change. */
export function staticCredentials(identity: Identity): Credentials {
  return { current: () => identity, rejected: () => undefined };
}

export interface Renewal {
  readonly identity: Identity;
  /** When to request the next identity, from now. */
  readonly renewAfterMs: number;
  /** How long this identity can be used if the renewal fails, from now. */
  readonly expiresAfterMs: number;
}

/**
 * Credentials that expire. They are renewed when they are due or the server has rejected them. Callers that wait share one
 * renewal. While renewals fail, the old identity is used until it expires. An abort ends the wait of one caller only.
 */
export class RenewedCredentials implements Credentials {
  readonly #renew: (rejected: boolean) => Promise<Renewal>;
  readonly #clock: Clock;
  #held: { identity: Identity; renewAtMs: number; expiresAtMs: number } | undefined;
  #rejected = false;
  #renewal: Promise<Identity> | undefined;

  /** The argument of `renew` is whether the last identity was rejected: then it must not use a cache. */
  constructor(renew: (rejected: boolean) => Promise<Renewal>, clock: Clock) {
    this.#renew = renew;
    this.#clock = clock;
  }

  current(signal: AbortSignal): Identity | Promise<Identity> {
    if (this.#held !== undefined && this.#clock.monotonic() < this.#held.renewAtMs) return this.#held.identity;
    this.#renewal ??= this.#renewed().finally(() => (this.#renewal = undefined));
    return orAbort(this.#renewal, signal);
  }

  rejected(identity: Identity): void {
    if (this.#held?.identity !== identity) return; // the response to a request from before the last renewal
    this.#held = undefined;
    this.#rejected = true;
  }

  async #renewed(): Promise<Identity> {
    try {
      const { identity, renewAfterMs, expiresAfterMs } = await this.#renew(this.#rejected);
      const nowMs = this.#clock.monotonic();
      this.#held = { identity, renewAtMs: nowMs + renewAfterMs, expiresAtMs: nowMs + expiresAfterMs };
      this.#rejected = false;
      return identity;
    } catch (error) {
      const nowMs = this.#clock.monotonic();
      if (this.#held === undefined || nowMs >= this.#held.expiresAtMs) throw error;
      this.#held.renewAtMs = nowMs + retryRenewalMs;
      return this.#held.identity;
    }
  }
}

function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
