import { AbortedError } from '../time/index.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { observeAuthenticator, observeAuthorizer } from './access-metrics.ts';
import { createAuthenticator } from './authentication.ts';
import type { Trust } from './authentication.ts';
import { createAuthorizer } from './authorization.ts';
import { handleRequest } from './handler.ts';
import type { HandlerDeps } from './handler.ts';
import { createListener } from './listener.ts';
import type { Listener, TlsMaterial } from './listener.ts';
import type { ServerOptions } from './options.ts';
import { createRoutes } from './routes.ts';
import { createCertificateSource } from './serving-certificates.ts';
import type { CertificateSource } from './serving-certificates.ts';
import { planTlsRules } from './tls.ts';
import { createTokenReview } from './token-review.ts';
import { createTrustSource, lookUpAtStart } from './trust.ts';
import type { TrustSource } from './trust.ts';

export interface Server {
  /**
   * Reads the certificates, reads the CAs of clients from the cluster and opens the port. Rejects with a ServingError if
   * this fails. Then reads the files again every few seconds. With port 0, it does not listen.
   */
  listen(signal: AbortSignal): Promise<void>;
  /** The address of the listener. Undefined while it does not listen. */
  readonly address: AddressInfo | undefined;
  /** Closes all connections. Resolves when everything has stopped. */
  close(): Promise<void>;
}

// Reading a few small files is cheap and finds all changes. A file watch misses the symlinks that kubelet swaps.
const fileIntervalMs = 5000;
const lookUpIntervalMs = 60_000;

export function createServer(options: ServerOptions): Server {
  const closing = new AbortController();
  let starting: Promise<Running> | undefined;
  let address: AddressInfo | undefined;
  return {
    get address() {
      return address;
    },
    async listen(signal) {
      if (options.serving.securePort === 0) return;
      starting = start(options, { closing: closing.signal, signal: AbortSignal.any([signal, closing.signal]) });
      address = (await starting).address;
    },
    async close() {
      closing.abort(new AbortedError('the server is closing'));
      address = undefined;
      const [started] = await Promise.allSettled([starting]); // `listen` reported a failed start
      if (started.status === 'fulfilled') await started.value?.stop();
    },
  };
}

interface Running {
  readonly address: AddressInfo;
  stop(): Promise<void>;
}

interface Sources {
  readonly certificates: CertificateSource;
  readonly trust: TrustSource;
}

async function start(
  options: ServerOptions,
  { closing, signal }: { readonly closing: AbortSignal; readonly signal: AbortSignal },
): Promise<Running> {
  const { serving, authentication, clock, logger } = options;
  const rules = planTlsRules(serving);
  const sources = {
    certificates: await createCertificateSource(serving, clock),
    trust: createTrustSource(authentication, logger),
  };
  await lookUpAtStart(sources.trust, { options: authentication, logger }, signal);
  let material = await readMaterial(sources);

  const requests = new Set<Promise<void>>();
  const deps = createHandlerDeps(options, { trust: () => material.trust, closing });
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const answered = handleRequest(deps, { request, response }, closing).finally(() => requests.delete(answered));
    requests.add(answered);
  };
  const { wantsCertificates } = sources.trust;
  const listener = createListener({ serving, rules, wantsCertificates, material, onRequest });
  const address = await listener.listen();
  logger.info({ address: address.address, port: address.port }, 'serving securely');

  const use = (next: TlsMaterial): void => {
    if (isSameMaterial(material, next)) return;
    listener.use(next);
    material = next;
    logger.info({}, 'certificates reloaded');
  };
  const refreshing = runRefresh(options, { sources, use }, closing);
  return { address, stop: () => stop(listener, [refreshing, ...requests]) };
}

async function stop(listener: Listener, underway: readonly Promise<void>[]): Promise<void> {
  await listener.close();
  await Promise.all(underway);
}

function createHandlerDeps(
  { authentication, authorization, content, observer, clock, logger }: ServerOptions,
  { trust, closing }: { readonly trust: () => Trust; readonly closing: AbortSignal },
): HandlerDeps {
  const { client } = authentication;
  const review = { clock, ttlMs: authentication.tokenCacheTtlMs, signal: closing };
  if (authorization.client === undefined) {
    logger.warn({}, 'no client for authorization: only the always-allowed paths are allowed');
  }
  const authenticator = createAuthenticator({
    trust,
    clock,
    checkToken: client === undefined ? undefined : createTokenReview({ ...review, client }),
  });
  const authorizer = createAuthorizer({ ...authorization, clock });
  return {
    authenticator: observer === undefined ? authenticator : observeAuthenticator(authenticator, observer, clock),
    authorizer: observer === undefined ? authorizer : observeAuthorizer(authorizer, observer, clock),
    routes: createRoutes({ content, clock, logger, signal: closing }),
    logger,
  };
}

/** Reloads certificates and CAs. If a file cannot be read, the current ones stay: a rotation may be half done. */
async function runRefresh(
  { clock, logger }: ServerOptions,
  { sources, use }: { readonly sources: Sources; readonly use: (material: TlsMaterial) => void },
  signal: AbortSignal,
): Promise<void> {
  let lookedUpMs = clock.monotonic();
  while (!signal.aborted) {
    try {
      await clock.sleep(fileIntervalMs, signal);
      if (clock.monotonic() - lookedUpMs >= lookUpIntervalMs) {
        lookedUpMs = clock.monotonic();
        await sources.trust.lookUp(signal);
      }
      use(await readMaterial(sources));
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'cannot reload certificates: keeping the current ones');
    }
  }
}

async function readMaterial({ certificates, trust }: Sources): Promise<TlsMaterial> {
  return { certificates: await certificates(), trust: await trust.readFiles() };
}

function isSameMaterial(before: TlsMaterial, after: TlsMaterial): boolean {
  return fingerprint(before) === fingerprint(after);
}

function fingerprint({ certificates, trust }: TlsMaterial): string {
  return JSON.stringify([certificates.main, [...certificates.byName], trust]); // certificates print as PEM
}
