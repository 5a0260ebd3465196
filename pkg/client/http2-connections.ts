import { once } from 'node:events';
import * as http2 from 'node:http2';
import { isIP } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

import type { Clock } from '../time/index.ts';
import { ClientClosedError, ConnectionClosedError, ConnectionError } from './errors.ts';
import type { Exchange, HttpStream, WireRequest } from './exchange.ts';
import { tcpKeepAliveMs, type TlsOptions } from './tls-options.ts';

/** Streams per connection if the server sets no limit. */
const assumedStreams = 100;
/** Bytes that the server may send, per stream and per connection, before it waits for us. */
const streamWindow = 4 * 1024 * 1024;
const connectionWindow = 16 * streamWindow;
/** Node rejects streams on a connection that buffers more. Its default is smaller than one large list. */
const maxSessionMegabytes = 1024;
/** The time limit of a connection attempt, which all waiting streams share. */
const connectMs = 30_000;
/** How long an idle connection may take to answer a ping. */
const pongMs = 5000;

export interface Http2Server {
  readonly url: URL;
  readonly tls: TlsOptions;
  readonly clock: Clock;
}

/**
 * HTTP/2 connections to one server. A further one is opened when all streams of the others are in use.
 *
 * The gain: 50 watches on one connection are one handshake instead of 50, on both sides, and save 4 MB. Without this file,
 * watches would use HTTP/1.1 connections (`Http1Pools`), as they do for servers without HTTP/2.
 */
export class Http2Connections {
  readonly #server: Http2Server;
  readonly #connections = new Set<Http2Connection>();
  #connecting: Promise<void> | undefined;
  /** False when the server has turned out to support only HTTP/1.1. */
  #isSupported = true;
  #isClosed = false;

  constructor(server: Http2Server) {
    this.#server = server;
  }

  /** Resolves with the headers of the response, or with undefined if the server does not support HTTP/2. */
  async send(request: WireRequest, exchange: Exchange): Promise<HttpStream | undefined> {
    for (;;) {
      const connection = this.#find();
      if (connection !== undefined) return connection.send(request, exchange);
      if (!this.#isSupported) return undefined;
      if (this.#isClosed) throw new ClientClosedError();
      this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
      await exchange.waitFor(this.#connecting);
    }
  }

  /** Each connection closes when its last stream ends. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.close();
  }

  #find(): Http2Connection | undefined {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    return undefined;
  }

  async #connect(): Promise<void> {
    const { url, clock } = this.#server;
    const socket = this.#openSocket();
    const timer = clock.setTimer(connectMs, () => {
      socket.destroy(new ConnectionClosedError(`no connection within ${connectMs} ms`, 'ETIMEDOUT'));
    });
    try {
      await once(socket, 'secureConnect');
      if (socket.alpnProtocol !== 'h2') {
        this.#isSupported = false;
        socket.destroy();
        return;
      }
      const connection = await Http2Connection.over(socket, url, clock);
      connection.onClose(() => this.#connections.delete(connection));
      this.#connections.add(connection);
      if (this.#isClosed) connection.close();
    } finally {
      timer.cancel();
    }
  }

  #openSocket(): TLSSocket {
    const { url, tls } = this.#server;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const socket = connectTls({
      host,
      port: url.port === '' ? 443 : Number(url.port),
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['h2', 'http/1.1'],
      ...tls,
    });
    return socket.setNoDelay(true).setKeepAlive(true, tcpKeepAliveMs);
  }
}

class Http2Connection {
  readonly #session: http2.ClientHttp2Session;
  readonly #authority: string;
  readonly #clock: Clock;
  readonly #streams = new Set<http2.ClientHttp2Stream>();
  #isPinging = false;

  private constructor(session: http2.ClientHttp2Session, authority: string, clock: Clock) {
    this.#session = session;
    this.#authority = authority;
    this.#clock = clock;
    session.on('error', ignore); // each stream gets the error too
  }

  static over(socket: TLSSocket, url: URL, clock: Clock): Promise<Http2Connection> {
    const session = http2.connect(url, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindow },
      maxSessionMemory: maxSessionMegabytes,
    });
    return new Promise((resolve, reject) => {
      session.once('error', reject);
      session.once('close', () => reject(new ConnectionClosedError('the connection was closed')));
      // Not 'connect': the limit of streams is known only from the settings of the server.
      session.once('remoteSettings', () => {
        session.off('error', reject);
        session.setLocalWindowSize(connectionWindow);
        const connection = new Http2Connection(session, url.host, clock);
        // Before Node's own listener, which treats a lost connection as the regular end of every stream.
        socket.prependListener('close', () => connection.#lose());
        resolve(connection);
      });
    });
  }

  get hasRoom(): boolean {
    const { closed, destroyed, remoteSettings } = this.#session;
    return !closed && !destroyed && this.#streams.size < (remoteSettings.maxConcurrentStreams ?? assumedStreams);
  }

  send({ method, path, headers }: WireRequest, exchange: Exchange): Promise<HttpStream> {
    return exchange.step((answered, fail) => {
      const pseudoHeaders = [':method', method, ':path', path, ':scheme', 'https', ':authority', this.#authority];
      const stream = this.#session.request([...pseudoHeaders, ...headers]);
      exchange.interrupts(stream);
      exchange.sent();
      this.#streams.add(stream);
      stream.on('error', (error) => {
        if (error instanceof ConnectionError) this.#ping();
        fail(error);
      });
      stream.on('response', ({ [':status']: status = 0, ...answer }) => answered({ status, headers: answer, stream }));
      stream.on('close', () => {
        this.#streams.delete(stream);
        fail(new ConnectionClosedError('the connection was closed')); // without effect after a response
      });
    });
  }

  #lose(): void {
    for (const stream of this.#streams) stream.destroy(new ConnectionClosedError('the connection was lost'));
  }

  /** Pings a connection that was idle for too long. Without the ping, a dead peer would go unnoticed for minutes. */
  #ping(): void {
    if (this.#isPinging || this.#session.destroyed) return;
    this.#isPinging = true;
    const timer = this.#clock.setTimer(pongMs, () => {
      this.#session.destroy(new ConnectionClosedError('the server does not respond', 'ETIMEDOUT'));
    });
    this.#session.ping(() => {
      this.#isPinging = false;
      timer.cancel();
    });
  }

  onClose(listener: () => void): void {
    this.#session.once('close', listener);
  }

  close(): void {
    this.#session.close();
  }
}

function ignore(): void {}
