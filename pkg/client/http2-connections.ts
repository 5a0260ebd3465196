import { once } from 'node:events';
import * as http2 from 'node:http2';
import { isIP } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

import type { Clock } from '../time/index.ts';
import { ConnectionError } from './errors.ts';
import type { Exchange, WireRequest } from './exchange.ts';
import { tcpKeepAliveMs, type TlsOptions } from './tls-options.ts';

/** Of a server that sets no limit of its own, so many streams on one connection. */
const assumedStreams = 100;
/** How much may be under way of one stream, and of all, before the server has to wait for us. */
const streamWindow = 4 * 1024 * 1024;
const connectionWindow = 16 * streamWindow;
/** Node refuses streams to a connection that holds more; its default is less than one large list. */
const maxSessionMegabytes = 1024;
/** All who need a connection wait for the same; it must not keep them forever. */
const connectMs = 30_000;
/** How long a connection on which nothing has come for too long has to show that it is alive. */
const pongMs = 5000;

export interface Http2Server {
  readonly url: URL;
  readonly tls: TlsOptions;
  readonly clock: Clock;
}

/**
 * HTTP/2 connections to one server: one, and another whenever all streams of those that are there are taken. Fifty
 * watches over one connection are one handshake instead of fifty, on both sides.
 */
export class Http2Connections {
  readonly #server: Http2Server;
  readonly #connections = new Set<Http2Connection>();
  #connecting: Promise<void> | undefined;
  /** Until a server turns out to speak HTTP/1.1 alone. */
  #isSpoken = true;
  #isClosed = false;

  constructor(server: Http2Server) {
    this.#server = server;
  }

  /** Resolves once the request is under way, or with false where HTTP/2 is not spoken. */
  async send<A>(request: WireRequest, exchange: Exchange<A>): Promise<boolean> {
    for (;;) {
      if (exchange.isOver) return true;
      const connection = this.#find();
      if (connection !== undefined) {
        connection.send(request, exchange);
        return true;
      }
      if (!this.#isSpoken) return false;
      if (this.#isClosed) throw new Error('the client has been closed');
      this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
      await this.#connecting;
    }
  }

  /** Each ends with the last of its streams. */
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
    const timer = clock.setTimer(connectMs, () => socket.destroy(new Error(`no connection within ${connectMs} ms`)));
    try {
      await once(socket, 'secureConnect');
      if (socket.alpnProtocol !== 'h2') {
        this.#isSpoken = false;
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
  #isInDoubt = false;

  private constructor(session: http2.ClientHttp2Session, authority: string, clock: Clock) {
    this.#session = session;
    this.#authority = authority;
    this.#clock = clock;
    session.on('error', ignore); // each of its streams hears of it
  }

  static over(socket: TLSSocket, url: URL, clock: Clock): Promise<Http2Connection> {
    const session = http2.connect(url, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindow },
      maxSessionMemory: maxSessionMegabytes,
    });
    return new Promise((resolve, reject) => {
      session.once('error', reject);
      session.once('close', () => reject(new Error('the connection was closed')));
      // Not at 'connect': only here is it known how many streams the server allows.
      session.once('remoteSettings', () => {
        session.off('error', reject);
        session.setLocalWindowSize(connectionWindow);
        const connection = new Http2Connection(session, url.host, clock);
        // Ahead of Node's own listener, to which a lost connection is the orderly end of every stream.
        socket.prependListener('close', () => connection.#lose());
        resolve(connection);
      });
    });
  }

  get hasRoom(): boolean {
    const { closed, destroyed, remoteSettings } = this.#session;
    return !closed && !destroyed && this.#streams.size < (remoteSettings.maxConcurrentStreams ?? assumedStreams);
  }

  send<A>({ method, path, headers }: WireRequest, exchange: Exchange<A>): void {
    const pseudoHeaders = [':method', method, ':path', path, ':scheme', 'https', ':authority', this.#authority];
    const stream = this.#session.request([...pseudoHeaders, ...headers]);
    this.#streams.add(stream);
    exchange.sending(stream);
    exchange.sent();
    stream.on('error', (error) => {
      if (error instanceof ConnectionError) this.#checkLife();
      exchange.fail(error);
    });
    stream.on('response', ({ [':status']: status = 0, ...answered }) =>
      exchange.answered({ status, headers: answered, stream }),
    );
    stream.on('close', () => {
      this.#streams.delete(stream);
      if (!exchange.isOver) exchange.fail(new Error('the connection was closed'));
    });
  }

  #lose(): void {
    for (const stream of this.#streams) stream.destroy(new Error('the connection was lost'));
  }

  /** After silence for too long: if the other side is gone, nothing else would tell for minutes. */
  #checkLife(): void {
    if (this.#isInDoubt || this.#session.destroyed) return;
    this.#isInDoubt = true;
    const timer = this.#clock.setTimer(pongMs, () => this.#session.destroy(new Error('the server has gone silent')));
    this.#session.ping(() => {
      this.#isInDoubt = false;
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
