import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

import { abortReason, type Clock } from '../time/index.ts';
import { ConnectionError } from './errors.ts';

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

/** A response with its status and headers, and a body to read or destroy. */
export interface HttpStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly stream: Readable;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Reads a response, as a stream or as a whole. */
export type Reading<A> = (response: HttpStream, exchange: Exchange<A>) => void;

export interface ExchangeParts<A> {
  readonly host: string;
  readonly timeoutMs: number;
  readonly read: Reading<A>;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: Error) => void;
}

/** One request in flight. The first of response, error, abort and timeout settles it. */
export class Exchange<A> {
  readonly #parts: ExchangeParts<A>;
  readonly #timer: { cancel(): void };
  #isOver = false;
  #isReleased = false;
  #sent = false;
  #onRelease: (() => void) | undefined;
  /** The stream that an abort destroys: first the request, then the response, so that its reader gets the reason. */
  #destroyable: { destroy(error: Error): void } | undefined;

  constructor(parts: ExchangeParts<A>) {
    this.#parts = parts;
    this.#timer = parts.clock.setTimer(parts.timeoutMs, this.#onTimeout);
    parts.signal.addEventListener('abort', this.#onAbort);
  }

  /** Whether the promise is settled. */
  get isOver(): boolean {
    return this.#isOver;
  }

  sending(request: { destroy(error: Error): void }): void {
    this.#destroyable = request;
  }

  /** Calls `callback` when the exchange has ended, or at once if it has. */
  onRelease(callback: () => void): void {
    if (this.#isReleased) callback();
    else this.#onRelease = callback;
  }

  /** From now on the server may have received the request. */
  readonly sent = (): void => {
    this.#sent = true;
  };

  answered(response: HttpStream): void {
    this.#destroyable = response.stream;
    this.#parts.read(response, this);
  }

  resolve(answer: A): void {
    this.#timer.cancel();
    this.#isOver = true;
    this.#parts.resolve(answer);
  }

  /** The exchange has ended: removes its timer and its listener. */
  readonly release = (): void => {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#timer.cancel();
    this.#onRelease?.();
    this.#parts.signal.removeEventListener('abort', this.#onAbort);
  };

  readonly fail = (cause: Error): void => {
    const { signal, host, reject } = this.#parts;
    if (this.#isOver) return; // a request may fail after an abort or a timeout
    this.#isOver = true;
    this.release();
    if (signal.aborted) reject(abortReason(signal));
    else if (cause instanceof ConnectionError) reject(cause);
    else reject(new ConnectionError(`${host}: ${cause.message}`, { cause, mayHaveBeenSent: this.#sent }));
  };

  readonly #onAbort = (): void => {
    this.#stop(abortReason(this.#parts.signal));
  };

  readonly #onTimeout = (): void => {
    const { timeoutMs, host } = this.#parts;
    const missing = this.#destroyable === undefined ? 'connection' : 'answer';
    const message = `${host}: no ${missing} within ${timeoutMs} ms`;
    this.#stop(new ConnectionError(message, { mayHaveBeenSent: this.#sent }));
  };

  #stop(reason: Error): void {
    this.#destroyable?.destroy(reason);
    this.fail(reason); // a request without a connection would report the error only after it connects
  }
}

/** Resolves with the whole body. */
export function readAnswer(response: HttpStream, exchange: Exchange<HttpAnswer>): void {
  const { status, headers, stream } = response;
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', exchange.fail);
  stream.on('end', () => {
    exchange.release();
    const [first = Buffer.alloc(0)] = chunks;
    exchange.resolve({ status, headers, body: chunks.length > 1 ? Buffer.concat(chunks) : first });
  });
}

/** Resolves with the headers. The signal applies until the stream ends. */
export function readStream(response: HttpStream, exchange: Exchange<HttpStream>): void {
  // The listener on the signal outlives this promise: an abort must also end a stream that is being read.
  response.stream.once('close', exchange.release);
  response.stream.on('error', ignore); // the reader gets the error from the stream. Without a reader, it must not end the process
  exchange.resolve(response);
}

function ignore(): void {}
