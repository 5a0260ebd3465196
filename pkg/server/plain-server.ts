import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { AbortedError, type Clock } from '../time/index.ts';
import { closable } from '../sockets/index.ts';
import type { Logger } from '../log/index.ts';
import { handleRequest } from './handler.ts';
import type { HandlerDeps } from './handler.ts';
import { ServingError } from './options.ts';
import type { ContentOptions } from './options.ts';
import { createRoutes } from './routes.ts';
import type { Server } from './server.ts';
import { anonymous } from './user.ts';

export interface PlainServerOptions {
  /** Empty: all addresses. */
  readonly host: string;
  readonly port: number | 'any';
  readonly content: ContentOptions;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The same pages over plain HTTP, for everyone who reaches the port. */
export function createPlainServer(options: PlainServerOptions): Server {
  const { content, clock, logger } = options;
  const closing = new AbortController();
  const deps: HandlerDeps = {
    authenticator: { authenticate: async () => ({ kind: 'known', user: anonymous }) },
    authorizer: { authorize: async () => ({ allowed: true }) },
    routes: createRoutes({ content, clock, logger, signal: closing.signal }),
    logger,
  };
  const requests = new Set<Promise<void>>();
  // An import of `node:http` reads all that it exports, and so loads `fetch` and WebSockets: 15 MB more.
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer((request, response) => {
    const answered = handleRequest(deps, { request, response }, closing.signal).finally(() =>
      requests.delete(answered),
    );
    requests.add(answered);
  });
  const close = closable(server);
  let address: AddressInfo | undefined;
  return {
    get address() {
      return address;
    },
    async listen(signal) {
      signal.throwIfAborted();
      const { host, port } = options;
      try {
        server.listen({ port: port === 'any' ? 0 : port, host: host === '' ? undefined : host });
        await once(server, 'listening');
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new ServingError('server.port', `cannot listen on ${host}:${port}: ${why}`, { cause: error });
      }
      const bound = server.address();
      if (bound === null || typeof bound === 'string') throw new Error('listen on a port: no address');
      address = bound;
      logger.info({ address: bound.address, port: bound.port }, 'serving');
    },
    async close() {
      closing.abort(new AbortedError('the server is closing'));
      address = undefined;
      await close();
      await Promise.all(requests);
    },
  };
}
