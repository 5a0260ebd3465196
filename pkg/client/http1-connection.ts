import type { Socket } from 'node:net';

import { AnswerError, ConnectionClosedError } from './errors.ts';
import { AnswerReader, type CompleteAnswer } from './http1-answer.ts';
import { idleSocketMs } from './tls-options.ts';

/** Who waits for an answer. */
export interface Reply {
  readonly answered: (answer: CompleteAnswer) => void;
  readonly fail: (error: Error) => void;
}

/** One connection, with one request at a time. */
export class Http1Connection {
  readonly socket: Socket;
  #isConnected = false;
  #reader = new AnswerReader();
  #reply: Reply | undefined;
  /** The request that waits until it is connected. */
  #first: { readonly begin: () => void; readonly fail: (error: Error) => void } | undefined;

  /** `connected` is the event that says that the socket can send. */
  constructor(socket: Socket, connected: 'connect' | 'secureConnect') {
    this.socket = socket;
    socket.once(connected, () => this.#connect());
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#end());
    socket.setTimeout(idleSocketMs, () => {
      if (this.isIdle) socket.destroy();
    });
  }

  get isIdle(): boolean {
    return this.#isConnected && this.#reply === undefined;
  }

  /** Calls `begin` when it can send, or `fail` if that never happens. */
  whenConnected(begin: () => void, fail: (error: Error) => void): void {
    if (this.#isConnected) begin();
    else this.#first = { begin, fail };
  }

  send(request: string, reply: Reply): void {
    this.#reply = reply;
    this.#reader = new AnswerReader();
    this.socket.ref();
    this.socket.write(request);
  }

  /** Takes the bytes that have arrived. They are the caller's again afterwards. */
  receive(bytes: Buffer): void {
    try {
      if (this.#reply === undefined) throw new AnswerError('the server has sent an answer to no request');
      const answer = this.#reader.read(bytes);
      if (answer !== undefined) this.#answer(answer);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new AnswerError('unreadable', { cause: error }));
    }
  }

  /** The server can read a further request. Not if it has answered before it has read all of the last one. */
  get isReusable(): boolean {
    return this.socket.writableLength === 0;
  }

  /** There is no request for now. An idle connection does not keep the process alive. */
  rest(): void {
    this.socket.unref();
  }

  destroy(reason?: Error): void {
    this.socket.destroy(reason);
  }

  #connect(): void {
    this.#isConnected = true;
    const first = this.#first;
    this.#first = undefined;
    first?.begin();
  }

  #answer(answer: CompleteAnswer): void {
    const reply = this.#reply;
    this.#reply = undefined;
    reply?.answered(answer);
  }

  #end(): void {
    const answer = this.#reply && this.#reader.end();
    if (answer !== undefined) this.#answer(answer);
    else this.#fail(new ConnectionClosedError('the connection was closed before the end of the answer'));
  }

  #fail(error: Error): void {
    const waiting = this.#reply ?? this.#first;
    this.#reply = undefined;
    this.#first = undefined;
    waiting?.fail(error);
  }
}
