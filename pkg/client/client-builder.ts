import { objectKey, parseTime, Namespaces, ServiceAccounts } from '../api/index.ts';
import { systemRandom, type Clock, type Random } from '../time/index.ts';
import type { Client } from './client.ts';
import { RenewedCredentials, type Credentials, type Renewal } from './credentials.ts';
import { isAlreadyExists, isNotFound } from './errors.ts';
import type { WriteGuard } from './exchange.ts';
import type { Connection } from './kubeconfig.ts';
import type { RequestObserver } from './observer.ts';
import { createRateLimiter } from './rate-limit.ts';
import { RestClient } from './rest.ts';
import type { TlsIdentity } from './tls-options.ts';
import { Transport } from './transport.ts';

/** The API server gives up on a request after 60 s and says so: its word should come before our own end. */
const defaultTimeoutMs = 70_000;
const tokenSeconds = 3600;
/** The share of a token's life after which it is renewed: the rest is for a server that is out of reach meanwhile. */
const renewAtShare = 0.8;

export interface ClientBuilderOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random?: Random | undefined;
  /** See `userAgentOf`. Each client adds its name. */
  readonly userAgent: string;
  /** Requests a second for each client; absent or not above zero: no limit. */
  readonly qps?: number | undefined;
  readonly burst?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly observer?: RequestObserver | undefined;
  /** Each client acts as the service account of its name in this namespace, made if missing. Absent: as the process. */
  readonly serviceAccountNamespace?: string | undefined;
  readonly keepManagedFields?: boolean | undefined;
  /** Asked before every write; absent: all may leave. */
  readonly guard?: WriteGuard | undefined;
}

/** Settings in which one client differs from the others. */
export interface ClientOverrides extends Pick<ClientBuilderOptions, 'qps' | 'burst' | 'timeoutMs' | 'guard'> {
  /** Connections of this name, which only those who name them too can fill. Absent: those of all controllers. */
  readonly connections?: string | undefined;
}

/** Makes clients that share connections, unless told otherwise, but neither user agent nor rate limit, nor, if so configured, identity. */
export class ClientBuilder {
  readonly #options: ClientBuilderOptions;
  readonly #transports = new Map<string, Transport>();
  readonly #closed = new AbortController();

  constructor(options: ClientBuilderOptions) {
    this.#options = options;
  }

  /** As the service account of the controller if so configured, else as the process. */
  clientFor(name: string, overrides: ClientOverrides = {}): Client {
    const { serviceAccountNamespace: namespace, connection, clock } = this.#options;
    if (namespace === undefined) return this.processClientFor(name, overrides);
    const issuer = this.processClientFor(name, overrides);
    const account = { namespace, name, tls: connection.anonymousTls };
    const credentials = serviceAccountCredentials(issuer, account, clock, this.#closed.signal);
    // A client certificate on the same connection would outrank the token.
    return this.#client(name, overrides, this.#transportFor(`${overrides.connections ?? ''} by token`), credentials);
  }

  /** With the process's own credentials, whatever else is configured: for what the process does as itself. */
  processClientFor(name: string, overrides: ClientOverrides = {}): Client {
    const transport = this.#transportFor(overrides.connections ?? '');
    return this.#client(name, overrides, transport, this.#options.connection.credentials);
  }

  /** The certificates (PEM) by which the API server is known; undefined where the machine's own are trusted, or any. */
  get serverAuthority(): string | undefined {
    return this.#options.connection.anonymousTls().ca;
  }

  /** Closes every connection; requests on their way fail. */
  close(): void {
    this.#closed.abort(new Error('client builder closed'));
    for (const transport of this.#transports.values()) {
      transport.close();
      this.#options.observer?.connectionsClosed?.();
    }
    this.#transports.clear();
  }

  #transportFor(connections: string): Transport {
    const { connection, clock, observer } = this.#options;
    const existing = this.#transports.get(connections);
    observer?.connectionsTaken?.(existing !== undefined);
    if (existing !== undefined) return existing;
    const transport = new Transport(connection.address, clock);
    this.#transports.set(connections, transport);
    return transport;
  }

  #client(name: string, overrides: ClientOverrides, transport: Transport, credentials: Credentials): Client {
    const { clock, random = systemRandom, userAgent, observer, keepManagedFields } = this.#options;
    const { qps = 0, burst = qps, timeoutMs = defaultTimeoutMs, guard } = { ...this.#options, ...overrides };
    return new RestClient({
      name,
      transport,
      credentials,
      clock,
      random,
      userAgent: `${userAgent}/${name}`,
      timeoutMs,
      rateLimiter: qps > 0 ? createRateLimiter({ qps, burst: Math.max(1, burst) }, clock) : undefined,
      observer,
      keepManagedFields,
      guard,
    });
  }
}

interface Account {
  readonly namespace: string;
  readonly name: string;
  readonly tls: () => TlsIdentity;
}

/** Acts as a service account, by tokens that `issuer` asks for and that are renewed before they expire. */
function serviceAccountCredentials(issuer: Client, account: Account, clock: Clock, signal: AbortSignal): Credentials {
  const renew = async (): Promise<Renewal> => {
    const { status } = await requestToken(issuer, account, signal);
    const expiresMs = parseTime(status?.expirationTimestamp);
    if (status?.token === undefined || expiresMs === undefined) {
      throw new Error(`create token for ${account.namespace}/${account.name}: none was given`);
    }
    const lifeMs = expiresMs - clock.now();
    // Where the clocks of server and machine disagree by more than a token's life, go by what was asked for.
    const expiresAfterMs = lifeMs > 0 ? lifeMs : tokenSeconds * 1000;
    return {
      identity: {
        // Asked for anew each time: the authority may be rotated while the token is good.
        get tls() {
          return account.tls();
        },
        headers: ['authorization', `Bearer ${status.token}`],
      },
      renewAfterMs: expiresAfterMs * renewAtShare,
      expiresAfterMs,
    };
  };
  return new RenewedCredentials(renew, clock);
}

async function requestToken(
  issuer: Client,
  account: Account,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<Client['createToken']>>> {
  const key = objectKey(account.namespace, account.name);
  const request = { spec: { audiences: [], expirationSeconds: tokenSeconds } };
  try {
    return await issuer.createToken(key, request, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  await ensureServiceAccount(issuer, account, signal);
  return issuer.createToken(key, request, signal);
}

async function ensureServiceAccount(issuer: Client, account: Account, signal: AbortSignal): Promise<void> {
  const { namespace, name } = account;
  const create = (): Promise<unknown> =>
    unlessItExists(issuer.create(ServiceAccounts, { metadata: { namespace, name } }, signal));
  try {
    await create();
  } catch (error) {
    if (!isNotFound(error)) throw error; // here it is the namespace that is missing
    await unlessItExists(issuer.create(Namespaces, { metadata: { name: namespace } }, signal));
    await create();
  }
}

async function unlessItExists(created: Promise<unknown>): Promise<void> {
  try {
    await created;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error; // someone else was quicker
  }
}
