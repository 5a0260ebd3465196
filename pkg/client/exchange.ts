import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

import { abortReason, type Clock } from '../time/index.ts';
import { ClientClosedError, ConnectionError } from './errors.ts';

/** A request as it is sent. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  /** Lower-case names and values, alternating. Node writes this form without building a map for each request. */
  readonly headers: readonly string[];
  readonly body?: string | undefined;
  readonly guard?: WriteGuard | undefined;
}

/** Called right before a write is sent. Throws if this process must not write any more. Then the write is not sent. */
export type WriteGuard = () => void;

/** What is read of a response. */
export type ReadHeaders = Pick<IncomingHttpHeaders, 'content-type' | 'retry-after'>;

/** A response with its status and headers, and a body to read or destroy. */
export interface HttpStream {
  readonly status: number;
  readonly headers: ReadHeaders;
  readonly stream: Readable;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: ReadHeaders;
  readonly body: Buffer;
}

export interface ExchangeLimits {
  readonly host: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

interface Destroyable {
  destroy(reason: Error): unknown;
}

/**
 * The state of one request in flight: how far it has come, and what interrupts it, which is an abort or its timeout. Each
 * step of the request is awaited with `step`.
 */
export class Exchange {
  readonly #limits: ExchangeLimits;
  readonly #signal: AbortSignal;
  readonly #timer: { cancel(): void };
  /** Why it was interrupted. */
  #reason: Error | undefined;
  #reject: ((reason: Error) => void) | undefined;
  /** What an interruption destroys: first the request, then the response, so that its reader gets the reason. */
  #inFlight: Destroyable | undefined;
  #sent = false;

  constructor(limits: ExchangeLimits, signal: AbortSignal) {
    this.#limits = limits;
    this.#signal = signal;
    this.#timer = limits.clock.setTimer(limits.timeoutMs, this.#onTimeout);
    signal.addEventListener('abort', this.#onAbort);
    if (signal.aborted) this.#onAbort();
  }

  get isInterrupted(): boolean {
    return this.#reason !== undefined;
  }

  /** Rejects at once when the exchange is interrupted, whatever the step does then. */
  step<T>(start: (done: (result: T) => void, fail: (error: Error) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#reason === undefined) {
        this.#reject = reject;
        start(resolve, reject);
      } else reject(this.#reason);
    });
  }

  /** Waits for what others wait for too. */
  async waitFor(event: Promise<void>): Promise<void> {
    await Promise.race([event, this.step<never>(() => {})]);
  }

  /** There is a request or a response for an interruption to destroy. */
  interrupts(inFlight: Destroyable): void {
    this.#inFlight = inFlight;
  }

  /** From now on the server may have received the request. */
  sent(): void {
    this.#sent = true;
  }

  /** The response is in time. An abort still interrupts it. */
  stopTimer(): void {
    this.#timer.cancel();
  }

  /** Leaves no timer and no listener. */
  readonly end = (): void => {
    this.#timer.cancel();
    this.#signal.removeEventListener('abort', this.#onAbort);
  };

  /** The error to throw when a step has failed with `cause`. */
  errorFrom(cause: unknown): Error {
    if (this.#signal.aborted) return abortReason(this.#signal);
    if (cause instanceof ConnectionError || cause instanceof ClientClosedError) return cause;
    const message = cause instanceof Error ? cause.message : 'the request cannot be sent';
    return new ConnectionError(`${this.#limits.host}: ${message}`, { cause, mayHaveBeenSent: this.#sent });
  }

  readonly #onAbort = (): void => {
    this.#interrupt(abortReason(this.#signal));
  };

  readonly #onTimeout = (): void => {
    const { timeoutMs, host } = this.#limits;
    const missing = this.#inFlight === undefined ? 'connection' : 'answer';
    const message = `${host}: no ${missing} within ${timeoutMs} ms`;
    this.#interrupt(new ConnectionError(message, { mayHaveBeenSent: this.#sent, code: 'ETIMEDOUT' }));
  };

  #interrupt(reason: Error): void {
    this.#reason = reason;
    this.#inFlight?.destroy(reason);
    this.#reject?.(reason); // a request without a connection would report the error only after it connects
  }
}
