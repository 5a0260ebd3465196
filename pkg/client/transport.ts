import { abortReason, type Clock } from '../time/index.ts';
import {
  Exchange,
  readAnswer,
  readStream,
  type HttpAnswer,
  type HttpStream,
  type Reading,
  type WireRequest,
} from './exchange.ts';
import { Http1Pools } from './http1-pools.ts';
import { Http2Connections } from './http2-connections.ts';
import { defaultLaneLimits, RequestLanes, type Lane } from './request-lanes.ts';
import { isSameTls, tlsOptions, type TlsIdentity } from './tls-options.ts';

export interface ServerAddress {
  /** `https://host:port/prefix`, or http. */
  readonly url: string;
  /** The kubeconfig's `proxy-url`. */
  readonly proxyUrl?: string | undefined;
  /** HTTPS_PROXY, NO_PROXY and similar variables, used if `proxyUrl` is absent. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface HttpRequest extends WireRequest {
  readonly tls: TlsIdentity;
  /** The queue of the request. Streams have none. */
  readonly lane?: Lane | undefined;
  /** For the whole response, or for a stream until its headers. */
  readonly timeoutMs: number;
}

/**
 * Connections to one server. Requests share a limited pool of HTTP/1.1 connections (`RequestLanes`), which takes a fifth
 * less CPU per request than other transports. Streams share one HTTP/2 connection if the server supports it and there is
 * no proxy, so that watches need one handshake and delay no request.
 *
 * An abort ends the exchange at once and rejects with the signal's reason, whether the request waits in its lane, for a
 * connection or for the response. The same applies to its timeout.
 */
export class Transport {
  readonly host: string;
  readonly #url: URL;
  readonly #pathPrefix: string;
  readonly #address: ServerAddress;
  readonly #clock: Clock;
  /** A connection is free one tick after its response. A request sent earlier would open another one. */
  readonly #lanes = new RequestLanes(defaultLaneLimits, (serve) => process.nextTick(serve));
  #routes: Routes | undefined;
  #isClosed = false;

  constructor(address: ServerAddress, clock: Clock) {
    this.#url = new URL(address.url);
    this.#pathPrefix = this.#url.pathname.replace(/\/$/, '');
    this.#address = address;
    this.#clock = clock;
    this.host = this.#url.host;
  }

  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    return this.#start(request, signal, readAnswer, (wire, exchange) => {
      const { lane = noLane, tls } = request;
      const leave = this.#lanes.enter(lane, () => this.#sendNow(wire, tls, exchange));
      exchange.onRelease(leave);
    });
  }

  /** Resolves with the headers. The caller must read or destroy the body. The signal applies until the body ends. */
  open(request: HttpRequest, signal: AbortSignal): Promise<HttpStream> {
    return this.#start(request, signal, readStream, async (wire, exchange) => {
      const { http1, http2 } = this.#routesFor(request.tls);
      if ((await http2?.send(wire, exchange)) !== true) http1.send(wire, 'streams', exchange);
    });
  }

  /** Closes idle connections now, and the others when their requests end. */
  close(): void {
    this.#isClosed = true;
    this.#routes?.http1.close();
    this.#routes?.http2?.close();
    this.#routes = undefined;
  }

  #start<A>(
    request: HttpRequest,
    signal: AbortSignal,
    read: Reading<A>,
    send: (wire: WireRequest, exchange: Exchange<A>) => void | Promise<void>,
  ): Promise<A> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const { host } = this;
      const { timeoutMs } = request;
      const exchange = new Exchange<A>({ host, timeoutMs, read, signal, clock: this.#clock, resolve, reject });
      const sending = send({ ...request, path: this.#pathPrefix + request.path }, exchange);
      sending?.catch(exchange.fail);
    });
  }

  #sendNow<A>(wire: WireRequest, tls: TlsIdentity, exchange: Exchange<A>): void {
    try {
      this.#routesFor(tls).http1.send(wire, 'requests', exchange);
    } catch (error) {
      exchange.fail(error instanceof Error ? error : new Error('the request cannot be sent', { cause: error }));
    }
  }

  /** Rotated certificates need new connections. The old connections close when their requests end. */
  #routesFor(tls: TlsIdentity): Routes {
    if (this.#isClosed) throw new Error('the client has been closed');
    if (this.#routes === undefined || !isSameTls(this.#routes.tls, tls)) {
      this.#routes?.http1.retire();
      this.#routes?.http2?.close();
      this.#routes = this.#makeRoutes(tls);
    }
    return this.#routes;
  }

  #makeRoutes(identity: TlsIdentity): Routes {
    const url = this.#url;
    const tls = url.protocol === 'https:' ? tlsOptions(identity) : undefined;
    const proxy = proxyOf(this.#address);
    const http1 = new Http1Pools({ url, tls, proxy });
    const isDirect = proxy === undefined;
    return {
      tls: identity,
      http1,
      http2: tls && isDirect ? new Http2Connections({ url, tls, clock: this.#clock }) : undefined,
    };
  }
}

const noLane: Lane = { client: '', namespace: '' };

/** The connections to a server for one identity. */
interface Routes {
  readonly tls: TlsIdentity;
  readonly http1: Http1Pools;
  readonly http2: Http2Connections | undefined;
}

function proxyOf({ proxyUrl, proxyEnv }: ServerAddress): Record<string, string | undefined> | undefined {
  if (proxyUrl !== undefined) return { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl };
  const isNamed = proxyEnv !== undefined && Object.keys(proxyEnv).some((name) => /^(all|https?)_proxy$/i.test(name));
  return isNamed ? proxyEnv : undefined;
}
