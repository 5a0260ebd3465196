import { createSecureContext, type SecureContext } from 'node:tls';

/** Finds a peer that has vanished, also below a watch that has nothing to say. */
export const tcpKeepAliveMs = 30_000;

export interface TlsIdentity {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
}

/** Whether the same connections will do. Compares contents: who holds a token may still hold a copy from before. */
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
    // Made once: parsing certificates for each connection is what makes a burst of them slow.
    secureContext: createSecureContext({ ca: tls.ca, cert: tls.cert, key: tls.key }),
    rejectUnauthorized: tls.insecureSkipVerify !== true,
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
  };
}
