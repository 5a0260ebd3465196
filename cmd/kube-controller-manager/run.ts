import { createExecPluginMetrics, createMetricsRegistry } from '../../pkg/metrics/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { createLoopPages, Loop } from '../../pkg/loop/index.ts';
import { ManagerError, runManager, type Environment, type ManagerOptions } from '../../pkg/manager/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { connect, connectReviewers, requestRate, watchFormat, type Reviewers } from './connect.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { placeController, readLeaderMigration, type LeaderMigration, type Place } from './leader-migration.ts';
import { defineProcessFacts } from './metrics.ts';
import { electionDurations, type Options } from './options.ts';
import { planServer } from './serving.ts';
import { candidateVersions, versionInfo } from './version.ts';

export interface RunDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly environment: Environment;
  readonly hostname: string;
  readonly reportedVersion: string;
  /** The process ends when the manager fails. Default true. */
  readonly exitsOnFailure?: boolean | undefined;
  /** Shows what the controllers do. Default: one at /debug/loop/ of the secure port, unless --profiling=false. */
  readonly loop?: Loop | undefined;
  /** Changes the log verbosity and returns a confirmation. Throws a `FlagError` if the value is not valid. */
  readonly setVerbosity?: ((value: string) => string) | undefined;
}

const name = 'kube-controller-manager';

/** The components whose events the Go binary logs at verbosity 0. */
const loggedEvents: ReadonlySet<string> = new Set([
  'endpoint-slice-controller',
  'endpoint-slice-mirroring-controller',
  name,
]);

/** Runs the manager as the flags say. Aborting `signal` starts the shutdown. */
export async function run(options: Options, deps: RunDeps, signal: AbortSignal): Promise<ExitCode> {
  const { clock, logger, reportedVersion } = deps;
  const { flags } = options;
  const migration = flags['enable-leader-migration']
    ? await readLeaderMigration(flags['leader-migration-config'])
    : undefined;
  const metrics = createMetricsRegistry();
  defineProcessFacts(metrics, options, reportedVersion);
  const pluginMetrics = createExecPluginMetrics(metrics, () => clock.now());
  const connectDeps = { clock, environment: deps.environment, pluginMetrics };
  const kubeconfig = await connect(options, connectDeps);
  const reviewers = await connectReviewers(options, connectDeps);
  logger.info({ ...versionInfo(reportedVersion) }, 'starting');
  for (const note of options.notes) logger.warn({ note }, 'a setting has no effect');
  try {
    const loop = deps.loop ?? (flags.profiling ? new Loop(clock) : undefined);
    await runManager({ ...plan(options, { ...deps, loop }, { reviewers, migration }), metrics, kubeconfig, signal });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof ManagerError && error.reason === 'ControllersStuck') return exitCodes.shutdownTimeout;
    throw error;
  }
}

interface PlanParts {
  readonly reviewers: Reviewers;
  readonly migration: LeaderMigration | undefined;
}

function plan(options: Options, deps: RunDeps, { reviewers, migration }: PlanParts): ManagerOptions {
  const { flags, gates, given } = options;
  const { controllers, secondLease } = placeControllers(options, migration);
  const { loop, clock } = deps;
  const loopPages = loop && createLoopPages({ loop, clock, settings: { name, tries: [] } });
  return {
    ...deps,
    name,
    version: deps.reportedVersion,
    gates,
    loggedEvents,
    controllers: controllers.map((each) => ({ name: each.name, create: each.bind(given) })),
    requests: {
      ...requestRate(options),
      watchFormat: watchFormat(options),
      serviceAccountNamespace: flags['use-service-account-credentials'] ? 'kube-system' : undefined,
    },
    leaderElection: flags['leader-elect'] && {
      ...electionDurations(flags),
      name: flags['leader-elect-resource-name'],
      namespace: flags['leader-elect-resource-namespace'],
      migration: secondLease,
      coordination: gates.isEnabled('CoordinatedLeaderElection') ? candidateVersions : undefined,
      // In Go the gate is off by default. Here the lease is released unless the gate is explicitly off.
      releaseOnCancel:
        !gates.isSet('ControllerManagerReleaseLeaderElectionLockOnExit') ||
        gates.isEnabled('ControllerManagerReleaseLeaderElectionLockOnExit'),
    },
    server: (parts) => planServer({ ...deps, options, parts, reviewers, loopPages }),
    resyncMs: flags['min-resync-period'],
    startIntervalMs: flags['controller-start-interval'],
    shutdownTimeoutMs: flags['controller-shutdown-timeout'],
    freezeCaches: false, // the caches of a whole cluster: it would cost time for every object, and undo their sharing
    exitsOnFailure: deps.exitsOnFailure ?? true,
  };
}

/** The controllers that this process may run, and those among them that need the second lease. */
function placeControllers({ flags, controllers: { enabled } }: Options, migration: LeaderMigration | undefined) {
  if (migration === undefined || !flags['leader-elect']) return { controllers: enabled };
  const inPlace = (place: Place): typeof enabled =>
    enabled.filter(({ name }) => placeController(migration, name) === place);
  const migrated = inPlace('migrated');
  return {
    controllers: [...inPlace('main'), ...migrated],
    secondLease: { name: migration.leaderName, controllers: new Set(migrated.map(({ name }) => name)) },
  };
}
