import type * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

import { ConnectionQueue, type Applicant } from './connection-queue.ts';
import { ConnectionClosedError } from './errors.ts';
import type { Exchange, HttpAnswer, HttpStream, WireRequest } from './exchange.ts';
import { idleSocketMs, maxFreeSockets, tcpKeepAliveMs, type TlsOptions } from './tls-options.ts';

export interface Http1Server {
  readonly url: URL;
  /** Absent without TLS. */
  readonly tls?: TlsOptions | undefined;
  readonly proxy?: http.AgentOptions['proxyEnv'] | undefined;
}

/**
 * HTTP/1.1 connections by Node's own client, which knows about proxies and can stream an answer: for all requests if there
 * is a proxy, and for streams if the server does not support HTTP/2. Streams have their own pool, so that hundreds of
 * watches that end leave no idle connections in the pool of the requests.
 */
export class Http1Pools {
  readonly #request: typeof http.request;
  readonly #address: { readonly host: string; readonly port: number };
  readonly #authority: string;
  readonly #pools: { readonly requests: Pool; readonly streams: Pool };

  constructor({ url, tls, proxy }: Http1Server) {
    this.#request = tls === undefined ? loadHttp().request : https.request;
    this.#address = {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (tls === undefined ? 80 : 443) : Number(url.port),
    };
    this.#authority = url.host;
    const options: https.AgentOptions = {
      keepAlive: true,
      keepAliveMsecs: tcpKeepAliveMs,
      timeout: idleSocketMs,
      scheduling: 'lifo', // the rest of the pool can go idle and close
      ...tls,
      ...(proxy === undefined ? {} : { proxyEnv: proxy }),
    };
    const newAgent = tls === undefined ? newHttpAgent : newHttpsAgent;
    this.#pools = {
      requests: new Pool(newAgent({ ...options, maxFreeSockets })),
      streams: new Pool(newAgent(options)),
    };
  }

  /** Resolves with the whole response. */
  async send(request: WireRequest, exchange: Exchange): Promise<HttpAnswer> {
    return readAnswer(await this.#begin(request, this.#pools.requests, exchange), exchange);
  }

  /** Resolves with the headers of the response. */
  open(request: WireRequest, exchange: Exchange): Promise<HttpStream> {
    return this.#begin(request, this.#pools.streams, exchange);
  }

  #begin(request: WireRequest, pool: Pool, exchange: Exchange): Promise<HttpStream> {
    const { method, path, body } = request;
    const headers = ['host', this.#authority, ...request.headers];
    const options: https.RequestOptions = { ...this.#address, method, path, headers, agent: pool.agent };
    return exchange.step((answered, fail) => {
      const start = (onConnected: () => void): http.ClientRequest => {
        const sending = this.#request(options);
        exchange.interrupts(sending);
        // Node sends nothing before this event. A request without a connection may wait for it for a long time.
        sending.on('socket', (socket) => {
          if (!permits(request, sending)) return;
          whenConnected(socket, () => {
            onConnected();
            if (permits(request, sending)) exchange.sent();
          });
        });
        sending.on('error', fail);
        sending.on('response', (stream) => {
          exchange.interrupts(stream);
          answered({ status: stream.statusCode ?? 0, headers: stream.headers, stream });
        });
        return sending.end(body);
      };
      pool.take({ start, fail, exchange });
    });
  }

  /** Closes idle connections now, and the others when their requests end. */
  retire(): void {
    for (const { agent } of Object.values(this.#pools)) {
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets)) {
        for (const socket of sockets ?? []) socket.destroy();
      }
    }
  }

  close(): void {
    for (const pool of Object.values(this.#pools)) pool.close();
  }
}

/** The connections of one agent. */
class Pool {
  readonly agent: http.Agent;
  readonly #queue = new ConnectionQueue(() => (this.agent.freeSockets[connectionName]?.length ?? 0) > 0);

  constructor(agent: http.Agent) {
    this.agent = agent;
    agent.on('free', () => this.#queue.startWaiting()); // after Node's own listener, which keeps the connection
  }

  take(applicant: Applicant): void {
    this.#queue.take(applicant);
  }

  close(): void {
    this.#queue.close();
    this.agent.destroy();
  }
}

/** Node keeps free connections by this name. */
const connectionName = 'server';

function readAnswer({ status, headers, stream }: HttpStream, exchange: Exchange): Promise<HttpAnswer> {
  return exchange.step((done, fail) => {
    const chunks: Buffer[] = [];
    const onClose = (): void => {
      if (stream.readableEnded) return;
      fail(new ConnectionClosedError('the connection was closed before the end of the answer'));
    };
    if (stream.destroyed) onClose();
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', fail);
    // Node reports a lost connection as an error only to those who listen at that moment.
    stream.on('close', onClose);
    stream.on('end', () => {
      const [first = Buffer.alloc(0)] = chunks;
      done({ status, headers, body: chunks.length > 1 ? Buffer.concat(chunks) : first });
    });
  });
}

function permits({ guard }: WireRequest, sending: http.ClientRequest): boolean {
  try {
    guard?.();
    return true;
  } catch (error) {
    sending.destroy(error instanceof Error ? error : new Error('refused', { cause: error }));
    return false;
  }
}

/** Calls `then` when the socket can send. */
function whenConnected(socket: Socket, then: () => void): void {
  const secure = socket instanceof TLSSocket;
  const pending = socket.connecting || (secure && 'secureConnecting' in socket && socket.secureConnecting === true);
  if (pending) socket.once(secure ? 'secureConnect' : 'connect', then);
  else then();
}

/** An import of `node:http` reads all that it exports, and so loads `fetch` and WebSockets: 15 MB more. */
const loadHttp = (): typeof http => process.getBuiltinModule('node:http');

function newHttpAgent(options: http.AgentOptions): http.Agent {
  return nameless(new (loadHttp().Agent)(options));
}

function newHttpsAgent(options: https.AgentOptions): https.Agent {
  return nameless(new https.Agent(options));
}

/**
 * Replaces Node's name for a connection, which joins all TLS options, certificates and keys included, for each request
 * (1.4 µs). These agents connect to one server only.
 */
function nameless<A extends http.Agent>(agent: A): A {
  agent.getName = () => connectionName;
  return agent;
}
