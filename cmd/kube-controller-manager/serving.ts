import type { ClientBuilder } from '../../pkg/client/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import type { MetricsRegistry } from '../../pkg/metrics/index.ts';
import type { HealthChecks, HealthPath, ServerOptions } from '../../pkg/server/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { configzName, describeConfig, describeFlags } from './configz.ts';
import type { LeadDeps } from './lead.ts';
import type { Options } from './options.ts';

export interface ServingDeps {
  readonly options: Options;
  readonly authentication: ClientBuilder | undefined;
  readonly authorization: ClientBuilder | undefined;
  readonly health: Readonly<Record<HealthPath, HealthChecks>>;
  readonly registry: MetricsRegistry;
  readonly sliRegistry: MetricsRegistry;
  readonly reportedVersion: string;
  readonly setVerbosity?: ((value: string) => string) | undefined;
  readonly debugPages: LeadDeps['debugPages'];
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The server limits its reviews itself: --kube-api-qps is for controllers. Probes and scrapes are answered however many
 * requests the controllers have under way.
 */
const reviewOverrides = { qps: 0, connections: 'reviews' };

/** Maps the flags to the options of the server. */
export function planServer(deps: ServingDeps): ServerOptions {
  const { options, clock, logger } = deps;
  const { flags } = options;
  return {
    serving: {
      bindAddress: flags['bind-address'],
      securePort: flags['secure-port'],
      certDir: flags['cert-dir'],
      tlsCertFile: flags['tls-cert-file'],
      tlsPrivateKeyFile: flags['tls-private-key-file'],
      tlsSniCertKeys: flags['tls-sni-cert-key'],
      tlsCipherSuites: flags['tls-cipher-suites'],
      tlsMinVersion: flags['tls-min-version'],
      tlsCurvePreferences: flags['tls-curve-preferences'],
      permitPortSharing: flags['permit-port-sharing'],
    },
    authentication: {
      client: deps.authentication?.processClientFor('authentication', reviewOverrides),
      skipLookup: flags['authentication-skip-lookup'],
      tolerateLookupFailure: flags['authentication-tolerate-lookup-failure'],
      tokenCacheTtlMs: flags['authentication-token-webhook-cache-ttl'],
      clientCaFile: flags['client-ca-file'],
      requestHeader: {
        clientCaFile: flags['requestheader-client-ca-file'],
        allowedNames: flags['requestheader-allowed-names'],
        usernameHeaders: flags['requestheader-username-headers'],
        uidHeaders: flags['requestheader-uid-headers'],
        groupHeaders: flags['requestheader-group-headers'],
        extraHeaderPrefixes: flags['requestheader-extra-headers-prefix'],
      },
    },
    authorization: {
      client: deps.authorization?.processClientFor('authorization', reviewOverrides),
      alwaysAllowPaths: flags['authorization-always-allow-paths'],
      allowedTtlMs: flags['authorization-webhook-cache-authorized-ttl'],
      deniedTtlMs: flags['authorization-webhook-cache-unauthorized-ttl'],
    },
    content: planContent(deps),
    clock,
    logger: logger.child({ part: 'server' }),
  };
}

/** Whether the server needs the client CAs from the cluster before it can listen. */
export function mustLookUpAuthorities({ flags }: Options): boolean {
  return (
    flags['secure-port'] !== 0 &&
    flags['requestheader-client-ca-file'] === '' &&
    !flags['authentication-skip-lookup'] &&
    !flags['authentication-tolerate-lookup-failure']
  );
}

function planContent(deps: ServingDeps): ServerOptions['content'] {
  const { options, health, registry, sliRegistry, reportedVersion, setVerbosity, debugPages, clock } = deps;
  const { flags, gates } = options;
  const disabled = flags['disabled-metrics'];
  const release = reportedVersion.replace(/^v/, '');
  return {
    health,
    metrics: {
      contentType: registry.contentType,
      metrics() {
        for (const name of disabled) registry.removeSingleMetric(name); // here, as controllers define theirs at any time
        return registry.metrics();
      },
    },
    sliMetrics: sliRegistry,
    config: { [configzName]: describeConfig(options) },
    flags: gates.isEnabled('ComponentFlagz') ? describeFlags(options) : undefined,
    status: gates.isEnabled('ComponentStatusz')
      ? {
          startedAtMs: clock.now() - clock.monotonic(),
          binaryVersion: release,
          emulationVersion: release.split('.').slice(0, 2).join('.'),
          runtimeVersion: `node ${process.version}`,
        }
      : undefined,
    cbor: gates.isEnabled('CBORServingAndStorage'),
    profiling: flags.profiling,
    heapSnapshots: flags['debug-heap-snapshots'],
    setVerbosity,
    controllerPage: (controller, page) => debugPages.get(controller)?.()?.[page],
  };
}
