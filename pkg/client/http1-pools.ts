import type * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

import { ClientClosedError } from './errors.ts';
import type { Exchange, HttpStream, WireRequest } from './exchange.ts';
import { tcpKeepAliveMs, type TlsOptions } from './tls-options.ts';

/** Idle connections kept for requests. `RequestLanes` limits the requests in flight. */
const maxFreeSockets = 96;
/** The API server closes idle connections after 90 s. Ours close earlier, so that no request uses a closing connection. */
const idleSocketMs = 60_000;

export interface Http1Server {
  readonly url: URL;
  /** Absent without TLS. */
  readonly tls?: TlsOptions | undefined;
  readonly proxy?: http.AgentOptions['proxyEnv'] | undefined;
}

/**
 * HTTP/1.1 connections to one server, at most one for each request in flight. Streams have their own pool, so that
 * hundreds of watches that end leave no idle connections in the pool of the requests.
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

  /** Resolves with the headers of the response. */
  send(request: WireRequest, poolName: 'requests' | 'streams', exchange: Exchange): Promise<HttpStream> {
    const pool = this.#pools[poolName];
    const { method, path, body } = request;
    const headers = ['host', this.#authority, ...request.headers];
    const options: https.RequestOptions = { ...this.#address, method, path, headers, agent: pool.agent };
    return exchange.step((answered, fail) => {
      const start: Start = (onConnected) => {
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

/**
 * The number of connections that are opened at once. More requests wait for one of these or for one that becomes free,
 * and a TLS handshake takes longer than most requests. The gain: the first 50 requests that a process sends at once take
 * 101 ms of its CPU time and 16 connections instead of 143 ms and 50. A thousand take the same time as without a limit.
 */
const maxHandshakes = 2;

/** A request that needs a connection. */
interface Applicant {
  readonly exchange: { readonly isInterrupted: boolean };
  /** `onConnected` must be called when the request has a connection. */
  readonly start: Start;
  readonly fail: (error: Error) => void;
}
type Start = (onConnected: () => void) => http.ClientRequest;

/** The connections of one agent. Requests get them in the order in which they came. */
class Pool {
  readonly agent: http.Agent;
  readonly #waiting: Applicant[] = [];
  #handshakes = 0;

  constructor(agent: http.Agent) {
    this.agent = agent;
    agent.on('free', () => this.#startWaiting()); // after Node's own listener, which keeps the connection
  }

  /** Starts a request when it can have a connection. */
  take(applicant: Applicant): void {
    this.#waiting.push(applicant);
    this.#startWaiting();
  }

  close(): void {
    for (const { fail } of this.#waiting.splice(0)) fail(new ClientClosedError());
    this.agent.destroy();
  }

  #startWaiting(): void {
    while (this.#hasFree || this.#handshakes < maxHandshakes) {
      const applicant = this.#waiting.shift();
      if (applicant === undefined) return;
      if (!applicant.exchange.isInterrupted) this.#start(applicant);
    }
  }

  #start({ start, fail }: Applicant): void {
    const opens = !this.#hasFree;
    let hasEnded = !opens;
    const onEnd = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      this.#handshakes -= 1;
      this.#startWaiting();
    };
    try {
      const sending = start(onEnd);
      if (!opens) return;
      this.#handshakes += 1;
      sending.on('close', onEnd);
    } catch (error) {
      fail(error instanceof Error ? error : new Error('the request cannot be sent', { cause: error }));
    }
  }

  get #hasFree(): boolean {
    return (this.agent.freeSockets[connectionName]?.length ?? 0) > 0;
  }
}

/** Node keeps free connections by this name. */
const connectionName = 'server';

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
