import type { ClientBuilder, Connection } from '../client/index.ts';
import type { Controller } from '../controller/index.ts';
import type { Logger } from '../log/index.ts';
import { createMetricsRegistry, type MetricsRegistry } from '../metrics/index.ts';
import {
  createPlainServer,
  createServer,
  HealthChecks,
  needsAuthorities,
  type ContentOptions,
  type HealthPath,
  type Server,
  type ServerOptions,
} from '../server/index.ts';
import type { Clock } from '../time/index.ts';
import { createHealthMetrics } from './metrics.ts';
import type { ManagerOptions, ServerSettings } from './options.ts';

/** The state that a manager serves, and the clients for authentication. */
export interface ServerParts {
  readonly health: Readonly<Record<HealthPath, HealthChecks>>;
  readonly metrics: MetricsRegistry;
  /** The outcomes of health checks. */
  readonly sliMetrics: MetricsRegistry;
  readonly controllerPage: ContentOptions['controllerPage'];
  readonly clients: ClientBuilder;
  /** Clients of another connection. They are closed with those of the manager. */
  openClients(connection: Connection): ClientBuilder;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The debug pages of each controller, by its name. */
export type DebugPages = Map<string, () => Controller['debugPages']>;

export interface PlannedServer extends Server {
  /** It cannot listen before it has read the trusted CA from the API server. */
  readonly needsApiServer: boolean;
}

const defaultPort = 8080;

export function createHealth(): Pick<ServerParts, 'health' | 'sliMetrics'> {
  const sliMetrics = createMetricsRegistry();
  const observe = createHealthMetrics(sliMetrics);
  const health = {
    healthz: new HealthChecks(observe),
    livez: new HealthChecks(observe),
    readyz: new HealthChecks(observe),
  };
  return { health, sliMetrics };
}

/** Undefined if nothing is to be served. */
export function planServer(server: ManagerOptions['server'], parts: ServerParts): PlannedServer | undefined {
  if (server === false) return undefined;
  if (typeof server === 'function') {
    const options = server(parts);
    return withNeed(createServer(options), needsAuthorities(options));
  }
  return settledServer(server ?? {}, parts);
}

function settledServer(settings: ServerSettings, parts: ServerParts): PlannedServer {
  const { port = defaultPort, host = '', secure = settings.certFile !== undefined, onListening } = settings;
  const shown = { content: contentOf(parts), clock: parts.clock, logger: parts.logger.child({ part: 'server' }) };
  const server = secure
    ? createServer({ ...shown, ...secureOptions(settings, parts.clients) })
    : createPlainServer({ ...shown, host, port });
  return withNeed(server, false, onListening);
}

function withNeed(
  server: Server,
  needsApiServer: boolean,
  onListening: ServerSettings['onListening'] = () => {},
): PlannedServer {
  return {
    needsApiServer,
    get address() {
      return server.address;
    },
    async listen(signal) {
      await server.listen(signal);
      if (server.address !== undefined) onListening(server.address);
    },
    close: () => server.close(),
  };
}

function contentOf({ health, metrics, sliMetrics, controllerPage }: ServerParts): ContentOptions {
  return { health, metrics, sliMetrics, config: {}, profiling: false, controllerPage };
}

/** Reviews are not delayed by the requests of controllers. */
const reviewOverrides = { qps: 0, connections: 'reviews' };

/** The API server checks tokens; client certificates are not requested. */
function secureOptions(
  { port = defaultPort, host = '', certFile = '', keyFile = '' }: ServerSettings,
  clients: ClientBuilder,
): Pick<ServerOptions, 'serving' | 'authentication' | 'authorization'> {
  return {
    serving: {
      bindAddress: host,
      securePort: port,
      certDir: '',
      tlsCertFile: certFile,
      tlsPrivateKeyFile: keyFile,
      tlsSniCertKeys: [],
      tlsCipherSuites: [],
      tlsMinVersion: '',
      tlsCurvePreferences: [],
      permitPortSharing: false,
    },
    authentication: {
      client: clients.processClientFor('authentication', reviewOverrides),
      skipLookup: true,
      tolerateLookupFailure: true,
      tokenCacheTtlMs: 10_000,
      clientCaFile: '',
      requestHeader: {
        clientCaFile: '',
        allowedNames: [],
        usernameHeaders: [],
        uidHeaders: [],
        groupHeaders: [],
        extraHeaderPrefixes: [],
      },
    },
    authorization: {
      client: clients.processClientFor('authorization', reviewOverrides),
      alwaysAllowPaths: ['/healthz', '/livez', '/readyz'],
      allowedTtlMs: 10_000,
      deniedTtlMs: 10_000,
    },
  };
}
