import { abortReason, type Clock } from '../time/index.ts';
import type { TlsIdentity } from './tls-options.ts';

/** After a renewal has failed, what is held stays in use for this long before the next one is tried. */
const retryRenewalMs = 10_000;

/** What one request needs to be let in. An equal `tls` means the same connections can be used. */
export interface Identity {
  readonly tls: TlsIdentity;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

/** Who a client is to the server. */
export interface Credentials {
  /** Given at once while it is known to be good; a promise when it must be read, renewed or requested first. */
  current(signal: AbortSignal): Identity | Promise<Identity>;
  /** The server did not accept this identity: the next `current` gets a new one, if there is one to be had. */
  rejected(identity: Identity): void;
}

/** Credentials that never change. */
export function staticCredentials(identity: Identity): Credentials {
  return { current: () => identity, rejected: () => undefined };
}

export interface Renewal {
  readonly identity: Identity;
  /** From now: when to ask for the next one. */
  readonly renewAfterMs: number;
  /** From now: until when this one can stand in if there is no next one. */
  readonly expiresAfterMs: number;
}

/**
 * Credentials that grow old: renewed when their time has come or the server has rejected them, once for all who wait.
 * While a renewal fails, the old ones serve as long as they are good. An abort ends the wait of one caller only.
 */
export class RenewedCredentials implements Credentials {
  readonly #renew: (rejected: boolean) => Promise<Renewal>;
  readonly #clock: Clock;
  #held: { identity: Identity; renewAtMs: number; expiresAtMs: number } | undefined;
  #rejected = false;
  #renewal: Promise<Identity> | undefined;

  /** `renew` is told whether the last identity was rejected, so that it trusts no cache of its own. */
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
    if (this.#held?.identity !== identity) return; // an answer to a request from before the last renewal
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
