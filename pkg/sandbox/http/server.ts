import { once } from 'node:events';
import { createServer, type Server } from 'node:https';

import type { KeyedCertificate } from '../../certificates/index.ts';
import { handle, type RouterDeps } from './router.ts';
import type { WatchStream } from './watch.ts';

export interface ServerOptions extends Omit<RouterDeps, 'watches'> {
  readonly certificate: KeyedCertificate;
  /** The CA of client certificates, PEM. */
  readonly authority: string;
  readonly port: number;
}

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the API on loopback. HTTP/1.1 only: every client falls back to it. */
export async function startApiServer(options: ServerOptions): Promise<ApiServer> {
  const watches = new Set<WatchStream>();
  const deps: RouterDeps = { ...options, watches };
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
      handle(deps, request, response).catch((error: unknown) => {
        options.logger.error({ err: error }, 'failed to send a response');
        response.destroy();
      });
    },
  );
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
    async close() {
      for (const watch of watches) watch.end();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
