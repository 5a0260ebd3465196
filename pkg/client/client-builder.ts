import { objectKey, parseTime, Namespaces, ServiceAccounts } from '../api/index.ts';
import { AbortedError, systemRandom, type Clock, type Random } from '../time/index.ts';
import type { Client } from './client.ts';
import { RenewedCredentials, type Credentials, type Renewal } from './credentials.ts';
import { AnswerError, isAlreadyExists, isNotFound } from './errors.ts';
import type { WriteGuard } from './exchange.ts';
import type { Connection } from './kubeconfig.ts';
import type { RequestObserver } from './observer.ts';
import { createRateLimiter } from './rate-limit.ts';
import { RestClient } from './rest.ts';
import type { TlsIdentity } from './tls-options.ts';
import { Transport } from './transport.ts';
import type { WatchFormatName } from './watch-format.ts';

/** The API server ends a request after 60 s with an error. Our timeout is longer, so that this error arrives. */
const defaultTimeoutMs = 70_000;
const tokenSeconds = 3600;
/** The share of a token's lifetime after which it is renewed. The rest bridges an outage of the server. */
const renewAtShare = 0.8;

export interface ClientBuilderOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random?: Random | undefined;
  /** See `userAgentOf`. Each client adds its name. */
  readonly userAgent: string;
  /** Requests per second of each client. No limit if absent, zero or negative. */
  readonly qps?: number | undefined;
  readonly burst?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly observer?: RequestObserver | undefined;
  /**
   * The namespace of the service accounts. Each client acts as the service account of its name, which is created if it
   * does not exist. If absent, clients use the credentials of the process.
   */
  readonly serviceAccountNamespace?: string | undefined;
  /** How the server sends the events of built-in kinds. Default: protobuf. Objects keep managed fields in JSON only. */
  readonly watchFormat?: WatchFormatName | undefined;
  readonly keepManagedFields?: boolean | undefined;
  /** Called before every write. If absent, all writes are allowed. */
  readonly guard?: WriteGuard | undefined;
}

/** Settings of a single client. */
export interface ClientOverrides extends Pick<ClientBuilderOptions, 'qps' | 'burst' | 'timeoutMs' | 'guard'> {
  /** Use a separate set of connections, shared by the clients with this name. Default: the set of all controllers. */
  readonly connections?: string | undefined;
}

/**
 * Creates clients. By default they share connections. Each client has its own user agent and rate limit, and its own
 * identity if service accounts are used.
 */
export class ClientBuilder {
  readonly #options: ClientBuilderOptions;
  readonly #transports = new Map<string, Transport>();
  readonly #closed = new AbortController();

  constructor(options: ClientBuilderOptions) {
    this.#options = options;
  }

  /** Acts as the service account of the controller if `serviceAccountNamespace` is set, otherwise as the process. */
  clientFor(name: string, overrides: ClientOverrides = {}): Client {
    const { serviceAccountNamespace: namespace, connection, clock } = this.#options;
    if (namespace === undefined) return this.processClientFor(name, overrides);
    const issuer = this.processClientFor(name, overrides);
    const account = { namespace, name, tls: connection.anonymousTls };
    const credentials = serviceAccountCredentials(issuer, account, clock, this.#closed.signal);
    // The server would prefer a client certificate on the same connection to the token.
    return this.#client(name, overrides, this.#transportFor(`${overrides.connections ?? ''} by token`), credentials);
  }

  /** Always acts with the credentials of the process, for requests that no controller makes. */
  processClientFor(name: string, overrides: ClientOverrides = {}): Client {
    const transport = this.#transportFor(overrides.connections ?? '');
    return this.#client(name, overrides, transport, this.#options.connection.credentials);
  }

  /** The CA certificates (PEM) for the API server. Undefined if the system's CAs or any certificate are trusted. */
  get serverAuthority(): string | undefined {
    return this.#options.connection.anonymousTls().ca;
  }

  /** Closes all connections. Requests in flight fail. */
  close(): void {
    this.#closed.abort(new AbortedError('the client builder is closed'));
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
    const { clock, random = systemRandom, userAgent, observer, watchFormat, keepManagedFields } = this.#options;
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
      watchFormat,
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

/** Acts as a service account, with tokens that `issuer` requests and that are renewed before they expire. */
function serviceAccountCredentials(issuer: Client, account: Account, clock: Clock, signal: AbortSignal): Credentials {
  const renew = async (): Promise<Renewal> => {
    const { status } = await requestToken(issuer, account, signal);
    const expiresMs = parseTime(status?.expirationTimestamp);
    if (status?.token === undefined || expiresMs === undefined) {
      throw new AnswerError(`create token for ${account.namespace}/${account.name}: none was given`);
    }
    const lifeMs = expiresMs - clock.now();
    // If the clocks of server and client differ by more than the lifetime of a token, use the requested lifetime.
    const expiresAfterMs = lifeMs > 0 ? lifeMs : tokenSeconds * 1000;
    return {
      identity: {
        // Read each time: the CA may be rotated while the token is valid.
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
    if (!isNotFound(error)) throw error; // the namespace does not exist
    await unlessItExists(issuer.create(Namespaces, { metadata: { name: namespace } }, signal));
    await create();
  }
}

async function unlessItExists(created: Promise<unknown>): Promise<void> {
  try {
    await created;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error; // another client created it first
  }
}
