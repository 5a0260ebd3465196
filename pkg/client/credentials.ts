import type { TlsIdentity } from './transport.ts';

/** What one request needs to be let in. The same `tls` object means the same connections can be used. */
export interface Identity {
  readonly tls: TlsIdentity;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

/** Who a client is to the server. */
export interface Credentials {
  /** Given at once while it is known to be good; a promise when it must be read, renewed or requested first. */
  current(signal: AbortSignal): Identity | Promise<Identity>;
  /** The server did not accept this identity: the next `current` gets a new one, if there is one to be had. */
  rejected(identity: Identity): void;
}

/** Credentials that never change. */
export function staticCredentials(identity: Identity): Credentials {
  return { current: () => identity, rejected: () => undefined };
}
