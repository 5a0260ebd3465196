import { createInformerMetrics } from '../../informers/index.ts';
import { runAll } from '../controller/index.ts';
import { EventBroadcaster } from '../events/index.ts';
import { LeaderLostError } from '../leaderelection/index.ts';
import { createControllerMetrics, runEventLoopLagMeter } from '../metrics/index.ts';
import { waitForApiServer } from './api-server.ts';
import { connect, createClientOpener } from './connection.ts';
import { createElectors, leaseConnections, runCandidacy } from './election.ts';
import { ManagerError } from './errors.ts';
import { describeHost, type Host } from './host.ts';
import { lead, type LeadDeps } from './lead.ts';
import { createReconcileObserver } from './metrics.ts';
import { leadTerm } from './migration.ts';
import { checkOptions, type ManagerOptions } from './options.ts';
import { createHealth, planServer, type DebugPages, type PlannedServer, type ServerParts } from './serving.ts';
import { gracefulSignal, stopOnSignals } from './signals.ts';

/**
 * Runs controllers until its signal aborts: connects, serves, records events, leads. Everything that starts is put on
 * one stack and ends in reverse order: controllers finish, the lease is released, events are flushed, the port is
 * closed, the connections are closed. Then the promise resolves, and nothing is left running. Rejects with a
 * `ManagerError` if it cannot start or cannot stop in time, with a `ServingError` if it cannot serve, and with a
 * `LeaderLostError` if it loses the lease.
 */
export async function runManager(options: ManagerOptions): Promise<void> {
  checkOptions(options);
  const host = describeHost(options);
  await using stack = new AsyncDisposableStack();
  const leaseLost = new AbortController();
  const asked = options.signal ?? stack.use(stopOnSignals()).signal;
  const stopping = gracefulSignal(asked, { limitMs: host.shutdownTimeoutMs, leaseLost: leaseLost.signal }, stack);
  try {
    const stuck = Promise.withResolvers<never>();
    const started = await start(options, host, stack, stopping);
    await endOf([work({ ...started, options, host, stuck: stuck.reject, leaseLost }, stopping), stuck.promise], {
      stack,
      exitsOnFailure: options.exitsOnFailure ?? options.signal === undefined,
    });
  } catch (error) {
    if (!stopping.aborted || error !== stopping.reason) throw error;
  }
}

interface Started extends Pick<ServerParts, 'clients' | 'health'> {
  readonly events: EventBroadcaster;
  readonly debugPages: DebugPages;
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string | undefined;
}

async function start(
  options: ManagerOptions,
  host: Host,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<Started> {
  const { clock, logger, registry } = host;
  const connection = await connect(options.kubeconfig, host);
  const openClients = createClientOpener(connection, { ...options, ...host }, stack);
  const clients = openClients(connection);
  const debugPages: DebugPages = new Map();
  const { health, sliMetrics } = createHealth();
  health.healthz.add(...(options.checks?.healthz ?? []));
  health.readyz.add(...(options.checks?.readyz ?? []));
  const parts: ServerParts = {
    health,
    metrics: registry,
    sliMetrics,
    clients,
    openClients,
    clock,
    logger,
    controllerPage: (controller, page) => debugPages.get(controller)?.()?.[page],
  };
  const server = planServer(options.server, parts);
  stack.defer(() => server?.close());
  const url = connection.address.url;
  await listenAndReach(server, { ...host, clients, url, name: options.name, elects: elects(options) }, signal);

  const background = runInBackground(stack);
  background((until) => runEventLoopLagMeter(registry, clock, until));
  const client = clients.processClientFor('event-broadcaster');
  const events = new EventBroadcaster({ client, clock, logger, alwaysLogged: options.loggedEvents });
  background((until) => events.run(until));
  return { clients, health, events, debugPages, namespace: connection.namespace };
}

interface ReachDeps extends Pick<Host, 'clock' | 'logger'>, Pick<Started, 'clients'> {
  readonly name: string;
  readonly url: string;
  readonly elects: boolean;
}

/** Opens the port and waits for the API server at the same time, to start sooner. */
async function listenAndReach(server: PlannedServer | undefined, deps: ReachDeps, signal: AbortSignal): Promise<void> {
  const { clients, clock, logger, url, name } = deps;
  // The lease is next: it need not open a connection then.
  const client = clients.processClientFor(name, { connections: leaseConnections });
  const needsApiServer = server?.needsApiServer ?? false;
  // A candidate waits for the API server: exiting would only add restart back-off.
  const wait = { clock, logger, server: url, patient: deps.elects && !needsApiServer };
  const reach = (until: AbortSignal): Promise<void> => waitForApiServer(client, wait, until);
  if (needsApiServer) {
    const listening = server?.listen(signal);
    listening?.catch(() => {}); // awaited below; if the wait for the API server fails, its error is the better one
    await reach(signal);
    await listening;
    return;
  }
  await runAll([reach, async (until) => server?.listen(until)], signal);
  signal.throwIfAborted();
}

function elects({ leaderElection = true }: ManagerOptions): boolean {
  return leaderElection !== false;
}

interface WorkParts extends Started {
  readonly options: ManagerOptions;
  readonly host: Host;
  readonly stuck: (error: ManagerError) => void;
  readonly leaseLost: AbortController;
}

/** Leads, at once or with the lease, until the signal aborts. */
async function work(parts: WorkParts, signal: AbortSignal): Promise<void> {
  const { options, host, leaseLost, health } = parts;
  const leadDeps = planLead(parts);
  if (!elects(options)) return lead(leadDeps, signal);
  const { main, second } = createElectors(options, { ...host, ...parts });
  options.loop?.elects(main);
  const onLost = (lost: AbortSignal): void =>
    lost.addEventListener('abort', () => leaseLost.abort(lost.reason), { once: true });
  health.healthz.add({
    name: main.healthCheck.name,
    check: () => main.healthCheck.check() ?? second?.elector.healthCheck.check(),
  });
  const candidacy = new AbortController();
  const announced = runCandidacy(options, { ...host, ...parts }, AbortSignal.any([signal, candidacy.signal]));
  try {
    await main.run((until, lost) => {
      onLost(lost);
      return leadTerm({ leadDeps, main, second, onLost }, until);
    }, signal);
  } finally {
    candidacy.abort();
    await announced;
  }
}

function planLead({ options, host, clients, events, health, debugPages, stuck }: WorkParts): LeadDeps {
  const { name, controllers, requests, namespace, gates, onLeading, loop } = options;
  const { registry, logger, environment } = host;
  const names = controllers.map((each) => each.name);
  return {
    ...host,
    controllers,
    clients,
    events,
    health,
    debugPages,
    namespace,
    onLeading,
    loop,
    qps: requests?.qps,
    gates: gates ?? { isEnabled: () => false },
    resyncMs: options.resyncMs ?? 0,
    startIntervalMs: options.startIntervalMs ?? 0,
    freezeCaches: options.freezeCaches ?? environment['NODE_ENV'] !== 'production',
    reconciles: createReconcileObserver(registry, names, loop),
    informerMetrics: createInformerMetrics(registry, name),
    controllerMetrics: createControllerMetrics(registry, name, names),
    onStuck(names) {
      logger.error({ controllers: names }, 'controllers did not end within the shutdown timeout');
      stuck(new ManagerError('ControllersStuck', `controllers did not end in time: ${names.join(', ')}`));
    },
  };
}

interface EndDeps {
  readonly stack: AsyncDisposableStack;
  readonly exitsOnFailure: boolean;
}

/** If the lease is lost, or controllers are stuck, another process may lead soon: exit at once, without clean-up. */
async function endOf(ends: readonly Promise<void>[], { stack, exitsOnFailure }: EndDeps): Promise<void> {
  try {
    await Promise.race(ends);
  } catch (error) {
    const isStuck = error instanceof ManagerError && error.reason === 'ControllersStuck';
    if (exitsOnFailure && (isStuck || error instanceof LeaderLostError)) stack.move();
    throw error;
  }
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
