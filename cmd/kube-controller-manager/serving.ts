import type { ClientBuilder, Connection } from '../../pkg/client/index.ts';
import type { LoopPages } from '../../pkg/loop/index.ts';
import type { ServerParts } from '../../pkg/manager/index.ts';
import { createAccessMetrics, type ServerOptions } from '../../pkg/server/index.ts';
import { configzName, describeConfig, describeFlags } from './configz.ts';
import type { Reviewers } from './connect.ts';
import type { Options } from './options.ts';

export interface ServingDeps {
  readonly options: Options;
  readonly parts: ServerParts;
  readonly reviewers: Reviewers;
  readonly reportedVersion: string;
  readonly setVerbosity?: ((value: string) => string) | undefined;
  /** Absent with --profiling=false. */
  readonly loopPages?: LoopPages | undefined;
}

/**
 * The server limits its reviews itself: --kube-api-qps is for controllers. Probes and scrapes are answered however many
 * requests the controllers have under way.
 */
const reviewOverrides = { qps: 0, connections: 'reviews' };

/** Maps the flags to the options of the server. */
export function planServer(deps: ServingDeps): ServerOptions {
  const { options, parts, reviewers } = deps;
  const { flags } = options;
  const clientsOf = (reviewer: Connection | 'process' | undefined): ClientBuilder | undefined => {
    if (reviewer === 'process') return parts.clients;
    return reviewer === undefined ? undefined : parts.openClients(reviewer);
  };
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
      client: clientsOf(reviewers.authentication)?.processClientFor('authentication', reviewOverrides),
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
      client: clientsOf(reviewers.authorization)?.processClientFor('authorization', reviewOverrides),
      alwaysAllowPaths: flags['authorization-always-allow-paths'],
      allowedTtlMs: flags['authorization-webhook-cache-authorized-ttl'],
      deniedTtlMs: flags['authorization-webhook-cache-unauthorized-ttl'],
    },
    content: planContent(deps),
    observer: createAccessMetrics(parts.metrics),
    clock: parts.clock,
    logger: parts.logger.child({ part: 'server' }),
  };
}

function planContent(deps: ServingDeps): ServerOptions['content'] {
  const { options, parts, reportedVersion, setVerbosity, loopPages } = deps;
  const { health, metrics, sliMetrics, controllerPage, clock } = parts;
  const { flags, gates } = options;
  const disabled = flags['disabled-metrics'];
  const release = reportedVersion.replace(/^v/, '');
  return {
    health: { ...health, readyz: health.livez }, // a leader is ready before its caches are, and standbys are, too
    metrics: {
      contentType: metrics.contentType,
      metrics() {
        for (const name of disabled) metrics.removeSingleMetric(name); // here, as controllers define theirs at any time
        return metrics.metrics();
      },
    },
    sliMetrics,
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
    loopPages,
    controllerPage,
  };
}
