import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { SecureContext, SecureContextOptions } from 'node:tls';
import { closable } from '../sockets/index.ts';
import type { Trust } from './authentication.ts';
import { ServingError } from './options.ts';
import type { ServingOptions } from './options.ts';
import { messageOf } from './serving-certificates.ts';
import type { CertificatePair, ServingCertificates } from './serving-certificates.ts';
import { selectByHost } from './tls.ts';
import type { TlsRules } from './tls.ts';

/** The certificates and CAs of handshakes, replaced as a whole when a file or a CA has changed. */
export interface TlsMaterial {
  readonly certificates: ServingCertificates;
  readonly trust: Trust;
}

/** An HTTPS port whose certificates can be changed while it is open. */
export interface Listener {
  listen(): Promise<AddressInfo>;
  /** Throws, and keeps the current certificates, if a certificate does not match its key. */
  use(material: TlsMaterial): void;
  close(): Promise<void>;
}

/**
 * Serves HTTP/1.1 only. Clients of these pages make one request at a time, and all of them support HTTP/1.1. HTTP/2 would
 * only add ways for unauthenticated clients to keep the server busy.
 */
export function createListener(deps: {
  readonly serving: ServingOptions;
  readonly rules: TlsRules;
  readonly wantsCertificates: boolean;
  readonly material: TlsMaterial;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
}): Listener {
  const { serving, rules } = deps;
  let byName: ReadonlyMap<string, SecureContext> = new Map();

  const contextOptions = (pair: CertificatePair, trust: Trust): SecureContextOptions => ({
    ...rules,
    ...pair,
    ca: authoritiesOf(trust),
    // A resumed session would reuse a verification against CAs that may have been replaced since.
    secureOptions: constants.SSL_OP_NO_TICKET,
  });
  const main = checkedOptions(deps.material.certificates.main, mainFlag(serving));
  const server: HttpsServer = createServer(
    {
      ...contextOptions(main, deps.material.trust),
      requestCert: deps.wantsCertificates,
      rejectUnauthorized: false, // the request may have a valid token
      ALPNProtocols: ['http/1.1'],
      SNICallback: (host, done) => done(null, selectByHost(host, byName)),
      maxHeaderSize: 1 << 20,
      headersTimeout: 32_000,
      keepAliveTimeout: 90_000, // longer than the interval of probes and scrapes
    },
    deps.onRequest,
  );

  function use({ certificates, trust }: TlsMaterial): void {
    const next = new Map<string, SecureContext>();
    for (const [name, pair] of certificates.byName) {
      next.set(name, createSecureContext(contextOptions(checkedOptions(pair, '--tls-sni-cert-key'), trust)));
    }
    server.setSecureContext(contextOptions(checkedOptions(certificates.main, mainFlag(serving)), trust));
    byName = next;
  }

  use(deps.material);
  return {
    use,
    listen: () => listen(server, serving),
    close: closable(server),
  };
}

async function listen(server: HttpsServer, serving: ServingOptions): Promise<AddressInfo> {
  const port = serving.securePort === 'any' ? 0 : serving.securePort;
  const host = unspecified.includes(serving.bindAddress) ? undefined : serving.bindAddress;
  try {
    server.listen({ port, host, reusePort: serving.permitPortSharing });
    await once(server, 'listening');
  } catch (error) {
    throw listenError(serving, error);
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('listen on a port: no address');
  return address;
}

// Without a host, Node listens on all addresses of both families. Go does the same for these.
const unspecified = ['', '0.0.0.0', '::'];

function mainFlag({ tlsCertFile, certDir }: ServingOptions): string {
  return tlsCertFile === '' && certDir !== '' ? '--cert-dir' : '--tls-cert-file';
}

function checkedOptions(pair: CertificatePair, flag: string): CertificatePair {
  try {
    createSecureContext({ ...pair, ca: [] }); // not the CAs of Node: parsing them takes 6 ms
    return pair;
  } catch (error) {
    throw new ServingError(flag, `certificate and key cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

function authoritiesOf({ users = [], proxies }: Trust): string[] {
  return [...users, ...(proxies?.authorities ?? [])].map((authority) => authority.toString());
}

function listenError({ bindAddress, securePort }: ServingOptions, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const where = `${bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress}:${securePort}`;
  switch (code) {
    case 'EADDRINUSE':
      return new ServingError('--secure-port', `cannot listen on ${where}: address already in use`, { cause: error });
    case 'EACCES':
      return new ServingError('--secure-port', `cannot listen on ${where}: permission denied`, { cause: error });
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
    case 'ENOTFOUND':
      return new ServingError('--bind-address', `cannot listen on ${where}: no such address here`, { cause: error });
    default:
      return new ServingError('--secure-port', `cannot listen on ${where}: ${messageOf(error)}`, { cause: error });
  }
}
