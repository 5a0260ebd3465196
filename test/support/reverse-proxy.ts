import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands between a browser and an HTTP server, and can be away for a while: connections end, and new ones are refused. */
export class ReverseProxy implements AsyncDisposable {
  readonly #target: URL;
  readonly #server = createServer((incoming, response) => this.#forward(incoming, response));
  #port = 0;

  private constructor(target: URL) {
    this.#target = target;
  }

  static async start(target: string): Promise<ReverseProxy> {
    const proxy = new ReverseProxy(new URL(target));
    await proxy.restore();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  async cut(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Listens at the same address again. */
  async restore(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.cut();
  }

  #forward(incoming: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/' } = incoming;
    const headers = { ...incoming.headers, host: this.#target.host }; // the server answers to its own name only
    const outgoing = request(new URL(url, this.#target), { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }
}
