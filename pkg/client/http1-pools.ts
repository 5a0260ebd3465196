import type * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

import { AbortedError } from '../time/index.ts';
import type { Exchange, HttpStream, WireRequest } from './exchange.ts';
import { tcpKeepAliveMs, type TlsOptions } from './tls-options.ts';

/** Idle connections kept for requests. `RequestLanes` limits the requests in flight. */
const maxFreeSockets = 96;
/** The API server closes idle connections after 90 s. Ours close earlier, so that no request uses a closing connection. */
const idleSocketMs = 60_000;

/** Node passes these options to `createConnection`, so that it knows the request of a connection. */
interface RequestOptions extends https.RequestOptions {
  readonly exchange: { readonly isInterrupted: boolean };
}

export interface Http1Server {
  readonly url: URL;
  /** Absent without TLS. */
  readonly tls?: TlsOptions | undefined;
  readonly proxy?: http.AgentOptions['proxyEnv'] | undefined;
}

/**
 * HTTP/1.1 connections to one server, as many as there are requests at once. Streams have their own pool, so that hundreds
 * of watches that end leave no idle connections in the pool of the requests.
 */
export class Http1Pools {
  readonly #request: typeof http.request;
  readonly #address: { readonly host: string; readonly port: number };
  readonly #authority: string;
  readonly #agents: { readonly requests: http.Agent; readonly streams: http.Agent };

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
    this.#agents = {
      requests: newAgent({ ...options, maxFreeSockets }),
      streams: newAgent(options),
    };
  }

  /** Resolves with the headers of the response. */
  send(request: WireRequest, pool: 'requests' | 'streams', exchange: Exchange): Promise<HttpStream> {
    const { method, path, body } = request;
    const headers = ['host', this.#authority, ...request.headers];
    const options: RequestOptions = { ...this.#address, method, path, headers, agent: this.#agents[pool], exchange };
    return exchange.step((answered, fail) => {
      const sending = this.#request(options);
      exchange.interrupts(sending);
      // Node sends nothing before this event. A request without a connection may wait for it for a long time.
      sending.on('socket', (socket) => {
        if (!permits(request, sending)) return;
        whenConnected(socket, () => {
          if (permits(request, sending)) exchange.sent();
        });
      });
      sending.on('error', fail);
      sending.on('response', (stream) => {
        exchange.interrupts(stream);
        answered({ status: stream.statusCode ?? 0, headers: stream.headers, stream });
      });
      sending.end(body);
    });
  }

  /** Closes idle connections now, and the others when their requests end. */
  retire(): void {
    for (const agent of Object.values(this.#agents)) {
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets)) {
        for (const socket of sockets ?? []) socket.destroy();
      }
    }
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
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
  return limitHandshakes(nameless(new https.Agent(options)));
}

/**
 * Replaces Node's name for a connection, which joins all TLS options, certificates and keys included, for each request
 * (1.4 µs). These agents connect to one server only.
 */
function nameless<A extends http.Agent>(agent: A): A {
  agent.getName = () => 'server';
  return agent;
}

/**
 * The number of TLS handshakes at once. The first ones get session tickets, and a handshake with a ticket needs no
 * certificates. The gain: the first 50 connections that a process opens at once take 115 ms of its CPU instead of 145 ms,
 * and 10 ms less of the server's. Later connections have tickets anyway.
 */
const maxHandshakes = 4;

function limitHandshakes(agent: https.Agent): https.Agent {
  const createConnection = agent.createConnection.bind(agent);
  /** Each function returns whether it has started a handshake. */
  const waiting: (() => boolean)[] = [];
  let handshakes = 0;
  const startNext = (): void => {
    let hasBegun = false;
    while (!hasBegun && waiting.length > 0) hasBegun = waiting.shift()?.() ?? false;
  };
  const connect = (...[options, onCreated]: ConnectArguments): ReturnType<https.Agent['createConnection']> => {
    const socket = createConnection(options, onCreated);
    if (!(socket instanceof TLSSocket)) return socket; // with a proxy, the handshake starts later
    handshakes += 1;
    const onEnd = (): void => {
      socket.off('secureConnect', onEnd).off('close', onEnd);
      handshakes -= 1;
      startNext();
    };
    socket.on('secureConnect', onEnd).on('close', onEnd);
    return socket;
  };
  agent.createConnection = (options, onCreated) => {
    if (handshakes < maxHandshakes || onCreated === undefined) return connect(options, onCreated);
    waiting.push(() => {
      if (isInterrupted(options)) {
        // The types require a socket in addition to the error.
        (onCreated as (error: Error) => void)(new AbortedError('the request has ended'));
        return false;
      }
      const socket = connect(options, onCreated);
      if (socket) onCreated(null, socket);
      return true;
    });
    return undefined;
  };
  return agent;
}
type ConnectArguments = Parameters<https.Agent['createConnection']>;

function isInterrupted(options: object): boolean {
  return 'exchange' in options && (options as RequestOptions).exchange.isInterrupted;
}
