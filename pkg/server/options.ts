import type { Client } from '../client/index.ts';
import type { Logger } from '../log/index.ts';
import type { Clock } from '../time/index.ts';
import type { AccessObserver } from './access-metrics.ts';
import type { HealthChecks, HealthPath } from './health.ts';
import type { StreamAnswer } from './profiling.ts';
import type { Answer } from './responses.ts';

/** Address, port and certificates: the flags of the section "secure serving". */
export interface ServingOptions {
  /** `--bind-address`. Empty, `0.0.0.0` and `::` mean all addresses of both families. */
  readonly bindAddress: string;
  /** `--secure-port`. 0 disables serving. `any` uses a free port, which `address` returns. */
  readonly securePort: number | 'any';
  /** `--cert-dir`. Empty: a generated certificate stays in memory. */
  readonly certDir: string;
  /** `--tls-cert-file` and `--tls-private-key-file`: both or neither. */
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  /** `--tls-sni-cert-key`, each as written: `foo.crt,foo.key` or `foo.crt,foo.key:*.foo.com,foo.com`. */
  readonly tlsSniCertKeys: readonly string[];
  /** `--tls-cipher-suites`, Go's names. Empty: Node's defaults. TLS 1.3 has its own three, always on. */
  readonly tlsCipherSuites: readonly string[];
  /** `--tls-min-version`, `VersionTLS12` and the like. Empty: 1.2. */
  readonly tlsMinVersion: string;
  /** `--tls-curve-preferences`, numbers of the TLS registry. Empty: Node's defaults. */
  readonly tlsCurvePreferences: readonly number[];
  /** `--permit-port-sharing`: several processes may listen on one port. */
  readonly permitPortSharing: boolean;
}

/** The flags of the section "authentication". */
export interface AuthenticationOptions {
  /**
   * The client for token reviews and for the CAs in the cluster (`--authentication-kubeconfig`, or the service account of
   * the pod). If absent, requests with tokens are anonymous and no CAs are read from the cluster.
   */
  readonly client?: Pick<Client, 'get' | 'request'> | undefined;
  /** `--authentication-skip-lookup`: don't read CAs from the cluster. */
  readonly skipLookup: boolean;
  /** `--authentication-tolerate-lookup-failure`: start even if the CAs cannot be read. */
  readonly tolerateLookupFailure: boolean;
  /** `--authentication-token-webhook-cache-ttl`. */
  readonly tokenCacheTtlMs: number;
  /** `--client-ca-file`. Empty: taken from the cluster. */
  readonly clientCaFile: string;
  readonly requestHeader: RequestHeaderOptions;
}

/** The flags `--requestheader-…`: which front proxies may set the user in headers. */
export interface RequestHeaderOptions {
  /** `--requestheader-client-ca-file`. Empty: this and all below come from the cluster. */
  readonly clientCaFile: string;
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** The flags of the section "authorization". */
export interface AuthorizationOptions {
  /** The client for access reviews (`--authorization-kubeconfig`). If absent, only the always-allowed paths are allowed. */
  readonly client?: Pick<Client, 'request'> | undefined;
  /** `--authorization-always-allow-paths`: exact, or a prefix when it ends in `*`. */
  readonly alwaysAllowPaths: readonly string[];
  /** `--authorization-webhook-cache-authorized-ttl` and `…-unauthorized-ttl`. */
  readonly allowedTtlMs: number;
  readonly deniedTtlMs: number;
}

/** The content of the pages. */
export interface ContentOptions {
  readonly health: Readonly<Record<HealthPath, HealthChecks>>;
  readonly metrics: MetricsSource;
  /** Health checks as metrics, at `/metrics/slis`. */
  readonly sliMetrics?: MetricsSource | undefined;
  /** The configuration in force, by name: the body of `/configz`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** All flags and their values, for `/flagz`. If absent, there is no such page. Must not contain secrets. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /** For `/statusz`. If absent, there is no such page. */
  readonly status?: StatusOptions | undefined;
  /** The gate CBORServingAndStorage: `/flagz` and `/statusz` are served as CBOR, too. */
  readonly cbor?: boolean | undefined;
  /** `--profiling`: serve the pages below `/debug/`. */
  readonly profiling: boolean;
  /** `--debug-heap-snapshots`: serve `/debug/pprof/heapsnapshot`, which contains all credentials. Needs `profiling`. */
  readonly heapSnapshots?: boolean | undefined;
  /** Sets the verbosity of the log and returns a message. Throws on an invalid value. Needs `profiling`. */
  readonly setVerbosity?: ((value: string) => string) | undefined;
  /** The pages below `/debug/loop/`. Needs `profiling`. */
  readonly loopPages?: LoopPages | undefined;
  /** The pages below `/debug/controllers/<controller>/`. Needs `profiling`. */
  readonly controllerPage?: ((controller: string, page: string) => ControllerPage | undefined) | undefined;
}

/** Pages below one path, read-only. */
export interface LoopPages {
  answer(request: LoopPageRequest, signal: AbortSignal): Promise<Answer | StreamAnswer>;
}

export interface LoopPageRequest {
  readonly method: string;
  /** Below `/debug/loop/`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The debug page of a controller, in parts. */
export interface ControllerPage {
  readonly contentType: string;
  parts(query: URLSearchParams): Iterable<string>;
}

/** The part of a prom-client registry that is used. */
export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface StatusOptions {
  readonly startedAtMs: number;
  /** `1.36.4` and the like. */
  readonly binaryVersion: string;
  readonly emulationVersion: string;
  /** Of the language's runtime. */
  readonly runtimeVersion: string;
}

export interface ServerOptions {
  readonly serving: ServingOptions;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  readonly content: ContentOptions;
  /** Told about the authentication and authorization of each request. */
  readonly observer?: AccessObserver | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Whether the server needs the client CAs from the cluster before it can listen. */
export function needsAuthorities({ serving, authentication }: ServerOptions): boolean {
  return (
    serving.securePort !== 0 &&
    authentication.client !== undefined &&
    authentication.requestHeader.clientCaFile === '' &&
    !authentication.skipLookup &&
    !authentication.tolerateLookupFailure
  );
}

/** The server cannot start with the value of a flag. The message is one line that names the flag. */
export class ServingError extends Error {
  override readonly name = 'ServingError';
  readonly reason = 'CannotServe';
  readonly flag: string;

  constructor(flag: string, problem: string, options?: ErrorOptions) {
    super(`${flag}: ${problem.replaceAll(/\s*\n\s*/g, ' ')}`, options);
    this.flag = flag;
  }
}
