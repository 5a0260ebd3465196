import type { Client } from '../client/index.ts';
import type { Logger } from '../log/index.ts';
import type { Clock } from '../time/index.ts';
import type { HealthChecks, HealthPath } from './health.ts';

/** Where and with which certificates to listen: the flags of the section "secure serving". */
export interface ServingOptions {
  /** `--bind-address`. Unspecified (empty, `0.0.0.0`, `::`): every address of both families. */
  readonly bindAddress: string;
  /** `--secure-port`. 0 switches serving off; `any` takes a free port, which `address` then tells. */
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

/** Who is asking: the flags of the section "authentication". */
export interface AuthenticationOptions {
  /**
   * Speaks to the API server that reviews tokens and publishes client authorities (`--authentication-kubeconfig`, else
   * the pod's own account). Absent: tokens count as anonymous and nothing is looked up.
   */
  readonly client?: Pick<Client, 'get' | 'request'> | undefined;
  /** `--authentication-skip-lookup`: read no authorities from the cluster. */
  readonly skipLookup: boolean;
  /** `--authentication-tolerate-lookup-failure`: start although the authorities cannot be read. */
  readonly tolerateLookupFailure: boolean;
  /** `--authentication-token-webhook-cache-ttl`. */
  readonly tokenCacheTtlMs: number;
  /** `--client-ca-file`. Empty: taken from the cluster. */
  readonly clientCaFile: string;
  readonly requestHeader: RequestHeaderOptions;
}

/** The flags `--requestheader-…`: whom to believe when a proxy in front names the user in headers. */
export interface RequestHeaderOptions {
  /** `--requestheader-client-ca-file`. Empty: this and all below come from the cluster. */
  readonly clientCaFile: string;
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** What they may see: the flags of the section "authorization". */
export interface AuthorizationOptions {
  /** Speaks to the API server that decides (`--authorization-kubeconfig`). Absent: no one is let past the open paths. */
  readonly client?: Pick<Client, 'request'> | undefined;
  /** `--authorization-always-allow-paths`: exact, or a prefix when it ends in `*`. */
  readonly alwaysAllowPaths: readonly string[];
  /** `--authorization-webhook-cache-authorized-ttl` and `…-unauthorized-ttl`. */
  readonly allowedTtlMs: number;
  readonly deniedTtlMs: number;
}

/** What there is to see. */
export interface ContentOptions {
  readonly health: Readonly<Record<HealthPath, HealthChecks>>;
  readonly metrics: MetricsSource;
  /** Health checks as metrics, at `/metrics/slis`. */
  readonly sliMetrics?: MetricsSource | undefined;
  /** The configuration in force, by name: the body of `/configz`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Every flag and its value, for `/flagz`. Absent: no such page. Values that are secret must not be in here. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /** For `/statusz`. Absent: no such page. */
  readonly status?: StatusOptions | undefined;
  /** The gate CBORServingAndStorage: `/flagz` and `/statusz` are served as CBOR, too. */
  readonly cbor?: boolean | undefined;
  /** `--profiling`: whether there is anything below `/debug/`. */
  readonly profiling: boolean;
  /** `--debug-heap-snapshots`: serve `/debug/pprof/heapsnapshot`, which gives away every credential. Needs `profiling`. */
  readonly heapSnapshots?: boolean | undefined;
  /** Sets the log's verbosity while running and says what it did; throws when it cannot. Needs `profiling`. */
  readonly setVerbosity?: ((value: string) => string) | undefined;
  /** The pages below `/debug/controllers/<controller>/`. Needs `profiling`. */
  readonly controllerPage?: ((controller: string, page: string) => ControllerPage | undefined) | undefined;
}

/** What a controller shows of itself, piece by piece. */
export interface ControllerPage {
  readonly contentType: string;
  parts(query: URLSearchParams): Iterable<string>;
}

/** prom-client's registries are of this shape. */
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
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A server that cannot start, because of what a flag says. The message is one line that names the flag. */
export class ServingError extends Error {
  override readonly name = 'ServingError';
  readonly reason = 'CannotServe';
  readonly flag: string;

  constructor(flag: string, problem: string, options?: ErrorOptions) {
    super(`${flag}: ${problem.replaceAll(/\s*\n\s*/g, ' ')}`, options);
    this.flag = flag;
  }
}
