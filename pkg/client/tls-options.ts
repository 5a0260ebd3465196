import { createSecureContext, type SecureContext } from 'node:tls';

/** Detects a dead peer, even on a watch without events. */
export const tcpKeepAliveMs = 30_000;

/** Idle connections kept for requests. `RequestLanes` limits the requests in flight. */
export const maxFreeSockets = 96;
/** The API server closes idle connections after 90 s. Ours close earlier, so that no request uses a closing connection. */
export const idleSocketMs = 60_000;

export interface TlsIdentity {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
}

/** Whether connections can be shared. Compares contents: a client with a token may have an older copy of the object. */
export function isSameTls(a: TlsIdentity, b: TlsIdentity): boolean {
  return (
    a === b ||
    (a.ca === b.ca &&
      a.cert === b.cert &&
      a.key === b.key &&
      a.serverName === b.serverName &&
      a.insecureSkipVerify === b.insecureSkipVerify)
  );
}

export interface TlsOptions {
  readonly secureContext: SecureContext;
  readonly rejectUnauthorized: boolean;
  readonly servername?: string;
}

export function tlsOptions(tls: TlsIdentity): TlsOptions {
  return {
    // Created once: parsing the certificates for each connection takes 0.5 ms.
    secureContext: createSecureContext({ ca: tls.ca, cert: tls.cert, key: tls.key }),
    rejectUnauthorized: tls.insecureSkipVerify !== true,
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
  };
}
