import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

/**
 * An HTTP server on loopback with scripted responses: the first request gets the first response, and so on. All further
 * requests get the last one.
 */
export class LoopbackServer implements AsyncDisposable {
  readonly requests: ReceivedRequest[] = [];
  readonly sockets = new Set<Socket>();
  /** All connections, including closed ones. */
  connections = 0;
  readonly #answers: Answer[];
  readonly #server = createServer((request, response) => this.#receive(request, response));

  private constructor(answers: readonly Answer[]) {
    this.#answers = [...answers];
    this.#server.on('connection', (socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  static async start(...answers: readonly Answer[]): Promise<LoopbackServer> {
    const server = new LoopbackServer(answers);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined); // some tests disconnect the client
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const received = { method, path, headers, body: Buffer.concat(chunks).toString() };
      this.requests.push(received);
      const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
      answer?.(response, received);
    });
  }
}

export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function status(code: number, fields: object = {}, headers: Readonly<Record<string, string>> = {}): Answer {
  return json({ kind: 'Status', apiVersion: 'v1', code, ...fields }, code, headers);
}

/** Closes the connection without a response. */
export const hangUp: Answer = (response) => response.socket?.destroy();

/** Never responds. */
export const silence: Answer = () => undefined;
