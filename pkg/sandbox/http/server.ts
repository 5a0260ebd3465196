import { once } from 'node:events';
import { createServer, type Server } from 'node:https';

import type { KeyedCertificate } from '../../certificates/index.ts';
import { closable } from '../../sockets/index.ts';
import { handle, type RouterDeps } from './router.ts';
import type { WatchStream } from './watch.ts';

export interface ServerOptions extends Omit<RouterDeps, 'watches'> {
  readonly certificate: KeyedCertificate;
  /** The CA of client certificates, PEM. */
  readonly authority: string;
  readonly port: number;
}

export interface Slowness {
  readonly delayMs: number;
  readonly forMs: number;
}

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  /** Ends every watch, as a server does that restarts. */
  endWatches(): void;
  /** For a time, each request waits this long before it is handled. */
  delayRequests(slowness: Slowness): void;
  close(): Promise<void>;
}

/** Serves the API on loopback. HTTP/1.1 only: every client falls back to it. */
export async function startApiServer(options: ServerOptions): Promise<ApiServer> {
  const watches = new Set<WatchStream>();
  const deps: RouterDeps = { ...options, watches };
  let slow = { delayMs: 0, untilMs: 0 };
  const closing = new AbortController();
  const server: Server = createServer(
    {
      cert: options.certificate.certificate,
      key: options.certificate.privateKey,
      ca: options.authority,
      requestCert: true,
      rejectUnauthorized: false, // a client without a certificate may have a token
      ALPNProtocols: ['http/1.1'],
      keepAliveTimeout: 120_000,
      requestTimeout: 0, // watches last as long as the client asked for
      maxHeaderSize: 1 << 16,
    },
    (request, response) => {
      response.on('error', () => {}); // a client that disconnects is not an error
      const handling =
        deps.clock.monotonic() >= slow.untilMs
          ? handle(deps, request, response)
          : deps.clock.sleep(slow.delayMs, closing.signal).then(() => handle(deps, request, response));
      handling.catch((error: unknown) => {
        if (closing.signal.aborted) return;
        options.logger.error({ err: error }, 'failed to send a response');
        response.destroy();
      });
    },
  );
  const close = closable(server);
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  });
  server.listen({ port: options.port, host: '127.0.0.1' });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('listen on a port: no address');
  return {
    port: address.port,
    url: `https://127.0.0.1:${address.port}`,
    endWatches() {
      for (const watch of watches) watch.end();
    },
    delayRequests({ delayMs, forMs }) {
      slow = { delayMs, untilMs: deps.clock.monotonic() + forMs };
    },
    async close() {
      closing.abort();
      for (const watch of watches) watch.end();
      await close();
    },
  };
}
