import type { Clock } from '../time/index.ts';
import { ClientClosedError } from './errors.ts';
import { Exchange, type HttpAnswer, type HttpStream, type WireRequest } from './exchange.ts';
import { Http1Connections } from './http1-connections.ts';
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
  /** For the whole response. For a stream: until its headers, unless they tell of an error. */
  readonly timeoutMs: number;
}

/**
 * Connections to one server. Requests share a limited number of HTTP/1.1 connections (`RequestLanes`), which take less CPU
 * per request than HTTP/2. Streams share one HTTP/2 connection if the server supports it and there is
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
  readonly #lanes = new RequestLanes(defaultLaneLimits);
  #routes: Routes | undefined;
  #isClosed = false;

  constructor(address: ServerAddress, clock: Clock) {
    this.#url = new URL(address.url);
    this.#pathPrefix = this.#url.pathname.replace(/\/$/, '');
    this.#address = address;
    this.#clock = clock;
    this.host = this.#url.host;
  }

  /** Resolves with the whole response. */
  async send(request: HttpRequest, lane: Lane, signal: AbortSignal): Promise<HttpAnswer> {
    const exchange = this.#begin(request, signal);
    const place = this.#lanes.enter(lane);
    try {
      if (place.admission !== undefined) await exchange.waitFor(place.admission);
      return await this.#routesFor(request.tls).requests.send(this.#wire(request), exchange);
    } catch (error) {
      throw exchange.errorFrom(error);
    } finally {
      place.leave();
      exchange.end();
    }
  }

  /** Resolves with the headers. The caller must read or destroy the body. The signal applies until the body ends. */
  async open(request: HttpRequest, signal: AbortSignal): Promise<HttpStream> {
    const exchange = this.#begin(request, signal);
    try {
      const { http1, http2 } = this.#routesFor(request.tls);
      const wire = this.#wire(request);
      const response = (await http2?.send(wire, exchange)) ?? (await http1.open(wire, exchange));
      if (response.status < 300) exchange.stopTimer(); // the body of an error must be in time too
      response.stream.once('close', exchange.end);
      response.stream.on('error', ignore); // its reader gets the error. Without a reader, it must not end the process
      return response;
    } catch (error) {
      exchange.end();
      throw exchange.errorFrom(error);
    }
  }

  /** Fails all requests. Streams over HTTP/2 go on until they end. */
  close(): void {
    this.#isClosed = true;
    this.#routes?.requests.close();
    this.#routes?.http1.close();
    this.#routes?.http2?.close();
    this.#routes = undefined;
  }

  #begin({ timeoutMs }: HttpRequest, signal: AbortSignal): Exchange {
    return new Exchange({ host: this.host, timeoutMs, clock: this.#clock }, signal);
  }

  #wire(request: HttpRequest): WireRequest {
    return { ...request, path: this.#pathPrefix + request.path };
  }

  /** Rotated certificates need new connections. The old connections close when their requests end. */
  #routesFor(tls: TlsIdentity): Routes {
    if (this.#isClosed) throw new ClientClosedError();
    if (this.#routes === undefined || !isSameTls(this.#routes.tls, tls)) {
      this.#routes?.requests.retire();
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
    if (proxy !== undefined) return { tls: identity, requests: http1, http1, http2: undefined };
    return {
      tls: identity,
      requests: new Http1Connections({ url, tls }),
      http1,
      http2: tls && new Http2Connections({ url, tls, clock: this.#clock }),
    };
  }
}

/** The connections to a server for one identity. */
interface Routes {
  readonly tls: TlsIdentity;
  readonly requests: Http1Connections | Http1Pools;
  /** For streams where HTTP/2 is not supported. */
  readonly http1: Http1Pools;
  readonly http2: Http2Connections | undefined;
}

function proxyOf({ proxyUrl, proxyEnv }: ServerAddress): Record<string, string | undefined> | undefined {
  if (proxyUrl !== undefined) return { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl };
  const isNamed = proxyEnv !== undefined && Object.keys(proxyEnv).some((name) => /^(all|https?)_proxy$/i.test(name));
  return isNamed ? proxyEnv : undefined;
}

function ignore(): void {}
