import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls';

import type { Clock } from '../time/index.ts';
import { ConnectionError } from './errors.ts';

/** Connections for requests. More would only queue in the server; each costs a handshake and memory on both sides. */
const maxSockets = 64;
/** The API server closes idle connections after 90 s. To close ours sooner keeps requests off connections that are dying. */
const idleSocketMs = 60_000;
/** Finds a peer that has vanished, also below a watch that has nothing to say. */
const tcpKeepAliveMs = 30_000;

export interface TlsIdentity {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
}

export interface ServerAddress {
  /** `https://host:port/prefix`, or http. */
  readonly url: string;
  /** The kubeconfig's `proxy-url`. */
  readonly proxyUrl?: string | undefined;
  /** HTTPS_PROXY, NO_PROXY and their like, which count when there is no `proxyUrl`. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn: Node writes them as they are, without a check and a map for each request. */
  readonly headers: readonly string[];
  readonly body?: string | undefined;
  readonly tls: TlsIdentity;
  /** For the whole answer; of a stream, for its beginning. */
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface HttpStream {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly stream: http.IncomingMessage;
}

/**
 * Connections to one server, kept open and used again. Requests share a bounded pool; streams have connections of
 * their own, so that a hundred watches leave no request waiting.
 *
 * An abort destroys the connection at once and rejects with the signal's reason.
 */
export class Transport {
  readonly host: string;
  readonly #url: URL;
  readonly #pathPrefix: string;
  readonly #address: ServerAddress;
  readonly #clock: Clock;
  readonly #hostHeader: readonly [string, string];
  #pools: Pools | undefined;

  constructor(address: ServerAddress, clock: Clock) {
    this.#url = new URL(address.url);
    this.#pathPrefix = this.#url.pathname.replace(/\/$/, '');
    this.#address = address;
    this.#clock = clock;
    this.host = this.#url.host;
    this.#hostHeader = ['Host', this.host];
  }

  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    return this.#start(request, 'requests', signal, readAnswer);
  }

  /** Resolves with the headers; the body is the caller's to read or destroy. The signal stays in force until it ends. */
  open(request: HttpRequest, signal: AbortSignal): Promise<HttpStream> {
    return this.#start(request, 'streams', signal, (response, exchange) => {
      // The listener on the signal has to outlive this promise: an abort must also end a stream that is being read.
      response.once('close', exchange.release);
      response.on('error', ignore); // reaches the reader through the stream; unread, it must not end the process
      exchange.resolve({ status: response.statusCode ?? 0, headers: response.headers, stream: response });
    });
  }

  /** Closes what is idle at once; what is in use ends with its request. */
  close(): void {
    this.#pools?.requests.destroy();
    this.#pools?.streams.destroy();
    this.#pools = undefined;
  }

  #start<A>(
    request: HttpRequest,
    pool: 'requests' | 'streams',
    signal: AbortSignal,
    onResponse: (response: http.IncomingMessage, exchange: Exchange<A>) => void,
  ): Promise<A> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const client = this.#send(request, pool);
      const exchange = new Exchange<A>({
        client,
        request,
        host: this.host,
        signal,
        clock: this.#clock,
        resolve,
        reject,
      });
      client.on('socket', exchange.onSocket);
      client.on('error', exchange.fail);
      client.on('response', (response) => {
        exchange.onResponse(response);
        onResponse(response, exchange);
      });
      if (request.body === undefined) client.end();
      else client.end(request.body);
    });
  }

  #send(request: HttpRequest, pool: 'requests' | 'streams'): http.ClientRequest {
    const agent = this.#poolsFor(request.tls)[pool];
    const secure = this.#url.protocol === 'https:';
    return (secure ? https : http).request({
      host: this.#url.hostname.replace(/^\[|\]$/g, ''),
      port: this.#url.port === '' ? (secure ? 443 : 80) : Number(this.#url.port),
      method: request.method,
      path: this.#pathPrefix + request.path,
      headers: [...this.#hostHeader, ...request.headers],
      agent,
    });
  }

  /** Rotated certificates get new connections; those of the old ones end by themselves when their requests do. */
  #poolsFor(tls: TlsIdentity): Pools {
    if (this.#pools?.tls !== tls) {
      this.#pools?.retire();
      this.#pools = new Pools(this.#url.protocol === 'https:', tls, this.#address);
    }
    return this.#pools;
  }
}

class Pools {
  readonly tls: TlsIdentity;
  readonly requests: http.Agent;
  readonly streams: http.Agent;

  constructor(secure: boolean, tls: TlsIdentity, address: ServerAddress) {
    this.tls = tls;
    const options: https.AgentOptions = {
      keepAlive: true,
      keepAliveMsecs: tcpKeepAliveMs,
      timeout: idleSocketMs,
      scheduling: 'lifo', // the rest of the pool can go idle and close
      ...(secure ? tlsOptions(tls) : {}),
      ...proxyOptions(address),
    };
    const Agent = secure ? OneServerHttpsAgent : OneServerHttpAgent;
    this.requests = new Agent({ ...options, maxSockets, maxFreeSockets: maxSockets });
    this.streams = new Agent(options);
  }

  retire(): void {
    for (const agent of [this.requests, this.streams]) {
      for (const sockets of Object.values(agent.freeSockets)) {
        for (const socket of sockets ?? []) socket.destroy();
      }
    }
  }
}

/**
 * So many handshakes are under way at most. The first ones bring tickets, and whoever has a ticket proves nothing again:
 * fifty watches that start at once would otherwise exchange and check certificates fifty times, on both sides.
 */
const maxHandshakes = 4;

// Node's own name for a connection is made of every TLS option, certificates and keys as text included, anew for each
// request. These agents only ever speak to one server.
class OneServerHttpsAgent extends https.Agent {
  #handshakes = 0;
  readonly #waiting: (() => void)[] = [];

  override getName(): string {
    return 'server';
  }

  override createConnection(...[options, onCreated]: ConnectArguments): ReturnType<https.Agent['createConnection']> {
    if (this.#handshakes >= maxHandshakes && onCreated !== undefined) {
      this.#waiting.push(() => {
        const socket = this.#connect(options, onCreated);
        if (socket) onCreated(null, socket);
      });
      return undefined;
    }
    return this.#connect(options, onCreated);
  }

  #connect(...[options, onCreated]: ConnectArguments): ReturnType<https.Agent['createConnection']> {
    const socket = super.createConnection(options, onCreated);
    if (!(socket instanceof TLSSocket)) return socket; // through a proxy there is no telling yet
    this.#handshakes += 1;
    const onEnd = (): void => {
      socket.off('secureConnect', onEnd).off('close', onEnd);
      this.#handshakes -= 1;
      this.#waiting.shift()?.();
    };
    socket.on('secureConnect', onEnd).on('close', onEnd);
    return socket;
  }
}
type ConnectArguments = Parameters<https.Agent['createConnection']>;
class OneServerHttpAgent extends http.Agent {
  override getName(): string {
    return 'server';
  }
}

function tlsOptions(tls: TlsIdentity): https.AgentOptions & { secureContext: SecureContext } {
  return {
    // Made once: parsing certificates for each connection is what makes a burst of them slow.
    secureContext: createSecureContext({ ca: tls.ca, cert: tls.cert, key: tls.key }),
    rejectUnauthorized: tls.insecureSkipVerify !== true,
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
  };
}

function proxyOptions({ proxyUrl, proxyEnv }: ServerAddress): Pick<http.AgentOptions, 'proxyEnv'> {
  if (proxyUrl !== undefined) return { proxyEnv: { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl } };
  return proxyEnv === undefined ? {} : { proxyEnv };
}

interface ExchangeParts<A> {
  readonly client: http.ClientRequest;
  readonly request: HttpRequest;
  readonly host: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: Error) => void;
}

/** One request on its way: whichever of answer, error, abort and timeout comes first settles it. */
class Exchange<A> {
  readonly #parts: ExchangeParts<A>;
  readonly #timer: { cancel(): void };
  /** What an abort destroys: the request, and once there is one the response, so that its reader hears the reason. */
  #destroyable: http.ClientRequest | http.IncomingMessage;
  #sent = false;

  constructor(parts: ExchangeParts<A>) {
    this.#parts = parts;
    this.#destroyable = parts.client;
    this.#timer = parts.clock.setTimer(parts.request.timeoutMs, this.#onTimeout);
    parts.signal.addEventListener('abort', this.#onAbort);
  }

  resolve(answer: A): void {
    this.#timer.cancel();
    this.#parts.resolve(answer);
  }

  /** Nothing of the exchange is left: the signal may forget it. */
  readonly release = (): void => {
    this.#timer.cancel();
    this.#parts.signal.removeEventListener('abort', this.#onAbort);
  };

  readonly fail = (cause: Error): void => {
    const { signal, host, reject } = this.#parts;
    this.release();
    if (signal.aborted) reject(abortReason(signal));
    else if (cause instanceof ConnectionError) reject(cause);
    else reject(new ConnectionError(`${host}: ${cause.message}`, { cause, mayHaveBeenSent: this.#sent }));
  };

  /** From here on bytes may leave, unless the connection has yet to be made: then once it has been. */
  readonly onSocket = (socket: Socket): void => {
    const secure = socket instanceof TLSSocket;
    const pending = socket.connecting || (secure && 'secureConnecting' in socket && socket.secureConnecting === true);
    if (!pending) this.#sent = true;
    else socket.once(secure ? 'secureConnect' : 'connect', () => (this.#sent = true));
  };

  onResponse(response: http.IncomingMessage): void {
    this.#destroyable = response;
  }

  readonly #onAbort = (): void => {
    this.#destroyable.destroy(abortReason(this.#parts.signal));
  };

  readonly #onTimeout = (): void => {
    const { request, host } = this.#parts;
    const message = `${host}: no answer within ${request.timeoutMs} ms`;
    this.#destroyable.destroy(new ConnectionError(message, { mayHaveBeenSent: this.#sent }));
  };
}

function readAnswer(response: http.IncomingMessage, exchange: Exchange<HttpAnswer>): void {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('error', exchange.fail);
  response.on('end', () => {
    exchange.release();
    const [first = Buffer.alloc(0)] = chunks;
    const body = chunks.length > 1 ? Buffer.concat(chunks) : first;
    exchange.resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
  });
}

export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

function ignore(): void {}
