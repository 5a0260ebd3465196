import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

import { abortReason, type Clock } from '../time/index.ts';
import { ConnectionError } from './errors.ts';

/** A request as it goes to the server. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case and values in turn: Node writes them as they are, without a check and a map for each request. */
  readonly headers: readonly string[];
  readonly body?: string | undefined;
  readonly guard?: WriteGuard | undefined;
}

/** Asked right before a write leaves. Throws when this process may not write any more: then nothing is sent. */
export type WriteGuard = () => void;

/** What has come back so far: the status, the headers, and a body to read or destroy. */
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

/** How to read what comes back: as it comes, or whole. */
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

/** One request on its way: whichever of answer, error, abort and timeout comes first settles it. */
export class Exchange<A> {
  readonly #parts: ExchangeParts<A>;
  readonly #timer: { cancel(): void };
  #isOver = false;
  #isReleased = false;
  #sent = false;
  #onRelease: (() => void) | undefined;
  /** What an abort destroys: the request, and once there is one the response, so that its reader hears the reason. */
  #destroyable: { destroy(error: Error): void } | undefined;

  constructor(parts: ExchangeParts<A>) {
    this.#parts = parts;
    this.#timer = parts.clock.setTimer(parts.timeoutMs, this.#onTimeout);
    parts.signal.addEventListener('abort', this.#onAbort);
  }

  /** Settled, or given up: there is nothing more to do for it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  sending(request: { destroy(error: Error): void }): void {
    this.#destroyable = request;
  }

  /** Calls back once nothing of the exchange is left: at once if that is so already. */
  onRelease(callback: () => void): void {
    if (this.#isReleased) callback();
    else this.#onRelease = callback;
  }

  /** From here on the server may have seen it. */
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

  /** Nothing of the exchange is left: the signal may forget it. */
  readonly release = (): void => {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#timer.cancel();
    this.#onRelease?.();
    this.#parts.signal.removeEventListener('abort', this.#onAbort);
  };

  readonly fail = (cause: Error): void => {
    const { signal, host, reject } = this.#parts;
    if (this.#isOver) return; // what was given up can still fail
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
    this.fail(reason); // a request that waits for its connection would only tell when it has got it
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

/** Resolves with the headers; the signal stays in force until the stream ends. */
export function readStream(response: HttpStream, exchange: Exchange<HttpStream>): void {
  // The listener on the signal has to outlive this promise: an abort must also end a stream that is being read.
  response.stream.once('close', exchange.release);
  response.stream.on('error', ignore); // reaches the reader through the stream; unread, it must not end the process
  exchange.resolve(response);
}

function ignore(): void {}
