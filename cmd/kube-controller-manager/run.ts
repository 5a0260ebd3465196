import {
  createExecPluginMetrics,
  createLeaderElectionMetrics,
  createMetricsRegistry,
  createRestClientMetrics,
  runEventLoopLagMeter,
  type MetricsRegistry,
} from '../../pkg/metrics/index.ts';
import type { ClientBuilder, Connection } from '../../pkg/client/index.ts';
import { GracefulStop, runAll } from '../../pkg/controller/index.ts';
import { EventBroadcaster } from '../../pkg/events/index.ts';
import { LeaderElector, LeaderLostError, newIdentity } from '../../pkg/leaderelection/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { createServer, HealthChecks, type HealthPath, type Server } from '../../pkg/server/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { waitForApiServer } from './api-server.ts';
import { connect, connectReviewer, createClientBuilder, type ConnectDeps, type Environment } from './connect.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { lead, type LeadDeps } from './lead.ts';
import { createHealthMetrics, createProcessMetrics } from './metrics.ts';
import { electionDurations, type Options } from './options.ts';
import { mustLookUpAuthorities, planServer } from './serving.ts';
import { versionInfo } from './version.ts';

/** Nothing else uses these, so that nothing else can fill them. */
const leaseConnections = 'leader-election';

export interface RunDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly environment: Environment;
  readonly hostname: string;
  readonly reportedVersion: string;
  /** Changes the log verbosity and returns a confirmation. Throws a `FlagError` if the value is not valid. */
  readonly setVerbosity?: ((value: string) => string) | undefined;
}

/** The components whose events the Go binary logs at verbosity 0. */
const alwaysLogged: ReadonlySet<string> = new Set([
  'endpoint-slice-controller',
  'endpoint-slice-mirroring-controller',
  'kube-controller-manager',
]);

/**
 * Runs the process: connect, serve, record events, lead. Everything that starts is put on one stack and ends in reverse
 * order: controllers finish, the lease is released, events are flushed, the port is closed, the connections are closed.
 * Aborting `signal` starts the shutdown.
 */
export async function run(options: Options, deps: RunDeps, signal: AbortSignal): Promise<ExitCode> {
  const { clock, logger } = deps;
  await using stack = new AsyncDisposableStack();
  const leaseLost = new AbortController();
  const stopping = gracefulSignal(signal, options, leaseLost.signal, stack);

  const registry = createMetricsRegistry();
  const metrics = createProcessMetrics(registry, options, deps.reportedVersion);
  const pluginMetrics = createExecPluginMetrics(registry, () => clock.now());
  const clients = await openClients(options, { ...deps, registry, pluginMetrics }, stack);
  logger.info({ ...versionInfo(deps.reportedVersion) }, 'starting');
  for (const note of options.notes) logger.warn({ note }, 'a setting has no effect');

  const { health, sliRegistry } = createHealth();
  const debugPages: LeadDeps['debugPages'] = new Map();
  const serving = { ...deps, ...clients, options, health, registry, sliRegistry, debugPages };
  const server = createServer(planServer(serving));
  stack.defer(() => server.close());
  await listenAndReach(server, { options, clients, clock, logger }, stopping);

  const background = runInBackground(stack);
  background((until) => runEventLoopLagMeter(registry, clock, until));
  const eventClient = clients.process.processClientFor('event-broadcaster');
  const events = new EventBroadcaster({ client: eventClient, clock, logger, alwaysLogged });
  background((until) => events.run(until));

  const stuck = Promise.withResolvers<ExitCode>();
  const leadDeps: LeadDeps = {
    ...deps,
    options,
    clients: clients.process,
    events,
    registry,
    reconciles: metrics.reconciles,
    controllerMetrics: metrics.controllers,
    health: health.healthz,
    debugPages,
    onStuck(names) {
      logger.error({ controllers: names }, 'controllers did not end within --controller-shutdown-timeout');
      stuck.resolve(exitCodes.shutdownTimeout);
    },
  };
  if (!options.flags['leader-elect']) return await endOf(lead(leadDeps, stopping), stuck.promise, stack);
  const elector = createElector({ options, deps, clients: clients.process, events, registry });
  health.healthz.add(elector.healthCheck);
  const work = (until: AbortSignal, lost: AbortSignal): Promise<void> => {
    lost.addEventListener('abort', () => leaseLost.abort(lost.reason), { once: true });
    return lead({ ...leadDeps, guard: elector.confirmLease }, until);
  };
  return await endOf(elector.run(work, stopping), stuck.promise, stack);
}

interface ReachDeps {
  readonly options: Options;
  readonly clients: Clients;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Opens the port and waits for the API server at the same time, to start sooner. */
async function listenAndReach(server: Server, deps: ReachDeps, signal: AbortSignal): Promise<void> {
  const { options, clients, clock, logger } = deps;
  // The lease is next: it need not open a connection then.
  const client = clients.process.processClientFor('kube-controller-manager', { connections: leaseConnections });
  const needsLookUp = clients.authentication !== undefined && mustLookUpAuthorities(options);
  // A candidate waits for the API server: exiting would only add restart back-off.
  const patient = options.flags['leader-elect'] && !needsLookUp;
  const wait = { clock, logger, server: clients.connection.address.url, patient };
  const reach = (until: AbortSignal): Promise<void> => waitForApiServer(client, wait, until);
  if (needsLookUp) {
    const listening = server.listen(signal);
    listening.catch(() => {}); // awaited below; if the wait for the API server fails, its error is the better one
    await reach(signal);
    await listening;
    return;
  }
  await runAll([reach, (until) => server.listen(until)], signal);
  signal.throwIfAborted();
}

/** If the lease is lost, or controllers are stuck, another process may lead soon: exit at once, without clean-up. */
async function endOf(work: Promise<void>, stuck: Promise<ExitCode>, stack: AsyncDisposableStack): Promise<ExitCode> {
  try {
    const exitCode = await Promise.race([stuck, done(work)]);
    if (exitCode !== exitCodes.ok) stack.move();
    return exitCode;
  } catch (error) {
    if (error instanceof LeaderLostError) stack.move();
    throw error;
  }
}

/** A stop that lets controllers finish what they are doing. */
function gracefulSignal(
  signal: AbortSignal,
  { flags }: Options,
  leaseLost: AbortSignal,
  stack: AsyncDisposableStack,
): AbortSignal {
  const stopping = new AbortController();
  const limitMs = flags['controller-shutdown-timeout'];
  const graceMs = limitMs > 0 ? limitMs : Number.POSITIVE_INFINITY;
  const onAbort = (): void => stopping.abort(new GracefulStop(graceMs, leaseLost));
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  stack.defer(() => signal.removeEventListener('abort', onAbort));
  return stopping.signal;
}

interface Clients {
  readonly connection: Connection;
  readonly process: ClientBuilder;
  readonly authentication: ClientBuilder | undefined;
  readonly authorization: ClientBuilder | undefined;
}

interface OpenDeps extends ConnectDeps {
  readonly registry: MetricsRegistry;
}

async function openClients(options: Options, deps: OpenDeps, stack: AsyncDisposableStack): Promise<Clients> {
  const { flags } = options;
  const connection = await connect(options, deps);
  const observer = createRestClientMetrics(deps.registry, [new URL(connection.address.url).host]);
  const open = (each: Connection): ClientBuilder =>
    stack.adopt(createClientBuilder(each, options, { ...deps, observer }), (b) => b.close());
  const process = open(connection);
  const reviewer = async (flag: 'authentication-kubeconfig' | 'authorization-kubeconfig') => {
    if (flags['secure-port'] === 0) return undefined;
    // kubeadm sets all three flags to the same file: one connection is enough.
    if (flags[flag] === flags.kubeconfig && flags.kubeconfig !== '' && flags.master === '') return process;
    const own = await connectReviewer(flag, options, deps);
    return own === undefined ? undefined : open(own);
  };
  return {
    connection,
    process,
    authentication: await reviewer('authentication-kubeconfig'),
    authorization: await reviewer('authorization-kubeconfig'),
  };
}

function createHealth(): {
  health: Record<HealthPath, HealthChecks>;
  sliRegistry: MetricsRegistry;
} {
  const sliRegistry = createMetricsRegistry();
  const observe = createHealthMetrics(sliRegistry);
  const health = {
    healthz: new HealthChecks(observe),
    livez: new HealthChecks(observe),
    readyz: new HealthChecks(observe),
  };
  return { health, sliRegistry };
}

function runInBackground(stack: AsyncDisposableStack): (task: (until: AbortSignal) => Promise<void>) => void {
  return (task) => {
    const until = new AbortController();
    const running = task(until.signal);
    stack.defer(async () => {
      until.abort();
      await running;
    });
  };
}

interface ElectorParts {
  readonly options: Options;
  readonly deps: RunDeps;
  readonly clients: ClientBuilder;
  readonly events: EventBroadcaster;
  readonly registry: MetricsRegistry;
}

function createElector({ options, deps, clients, events, registry }: ElectorParts): LeaderElector {
  const { flags, gates } = options;
  const { clock, logger, hostname, random } = deps;
  const name = flags['leader-elect-resource-name'];
  return new LeaderElector({
    ...electionDurations(flags),
    // Neither a rate limit nor requests of others may delay a renewal.
    client: clients.processClientFor('leader-election', { qps: 0, connections: leaseConnections }),
    clock,
    lock: { namespace: flags['leader-elect-resource-namespace'], name },
    identity: newIdentity(hostname),
    // In Go the gate is off by default. Here the lease is released unless the gate is explicitly off.
    releaseOnCancel:
      !gates.isSet('ControllerManagerReleaseLeaderElectionLockOnExit') ||
      gates.isEnabled('ControllerManagerReleaseLeaderElectionLockOnExit'),
    logger,
    metrics: createLeaderElectionMetrics(registry, [name]),
    onNewLeader: (identity) => logger.info({ leader: identity }, 'new leader'),
    events: events.recorderFor('kube-controller-manager'),
    random,
  });
}

async function done(work: Promise<void>): Promise<ExitCode> {
  await work;
  return exitCodes.ok;
}
