import { defineCounter, defineGauge, defineHistogram } from './families.ts';
import type { Counter, Histogram } from './families.ts';
import type { MetricsRegistry } from './registry.ts';

/** The metrics of all electors of the process, labelled with the name of their lease. */
export interface LeaderElectionMetrics {
  setLeading(name: string, leading: boolean): void;
  countSlowPath(name: string): void;
}

/** `names`: the leases that this process is a candidate for. Their series exist, at zero, from the start. */
export function createLeaderElectionMetrics(
  registry: MetricsRegistry,
  names: readonly string[] = [],
): LeaderElectionMetrics {
  const status = defineGauge(registry, {
    name: 'leader_election_master_status',
    help: 'Whether this process holds the lease of this name: 1 for the leader, 0 for a standby.',
    labels: ['name'],
  });
  const slowPaths = defineCounter(registry, {
    name: 'leader_election_slowpath_total',
    help: 'Renewals that had to read the lease first, because a write of the last observed lease failed.',
    labels: ['name'],
  });
  for (const name of names) {
    status.with({ name });
    slowPaths.with({ name });
  }
  return {
    setLeading: (name, leading) => status.with({ name }).set(leading ? 1 : 0),
    countSlowPath: (name) => slowPaths.with({ name }).inc(),
  };
}

export interface FeatureState {
  readonly name: string;
  /** Empty once generally available. */
  readonly stage: 'ALPHA' | 'BETA' | 'DEPRECATED' | '';
  readonly enabled: boolean;
}

export function recordFeatures(registry: MetricsRegistry, features: Iterable<FeatureState>): void {
  const gauge = defineGauge(registry, {
    name: 'kubernetes_feature_enabled',
    help: 'Whether a feature gate is on, by name and stage.',
    labels: ['name', 'stage'],
  });
  for (const { name, stage, enabled } of features) gauge.with({ name, stage }).set(enabled ? 1 : 0);
}

export interface BuildInfo {
  /** The Kubernetes release that this build implements. */
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  /** The version of Node, in the label where the Go binary has the version of Go. */
  readonly runtimeVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

export function recordBuildInfo(registry: MetricsRegistry, info: BuildInfo): void {
  defineGauge(registry, {
    name: 'kubernetes_build_info',
    help: 'Always 1. The labels identify the build.',
    labels: [
      'major',
      'minor',
      'git_version',
      'git_commit',
      'git_tree_state',
      'build_date',
      'go_version',
      'compiler',
      'platform',
    ],
  })
    .with({
      major: info.major,
      minor: info.minor,
      git_version: info.gitVersion,
      git_commit: info.gitCommit,
      git_tree_state: info.gitTreeState,
      build_date: info.buildDate,
      go_version: info.runtimeVersion,
      compiler: info.compiler,
      platform: info.platform,
    })
    .set(1);
  const release = `${info.major}.${info.minor}`;
  defineGauge(registry, {
    name: 'version_info',
    help: 'Always 1. The labels are the Kubernetes releases that this component implements and emulates.',
    labels: ['component', 'binary', 'emulation', 'min_compat'],
  })
    .with({ component: 'kube', binary: release, emulation: release, min_compat: previousRelease(info) })
    .set(1);
}

// By default, a component is compatible with the previous release.
function previousRelease({ major, minor }: BuildInfo): string {
  return `${major}.${Number.parseInt(minor, 10) - 1}`;
}

export interface ControllerMetrics {
  setRunning(controller: string, running: boolean): void;
}

/** `controllers`: the controllers that will be started. Their series exist, at zero, from the start. */
export function createControllerMetrics(
  registry: MetricsRegistry,
  manager: string,
  controllers: readonly string[] = [],
): ControllerMetrics {
  const gauge = defineGauge(registry, {
    name: 'running_managed_controllers',
    help: 'Whether a controller is running in this process.',
    labels: ['name', 'manager'],
  });
  for (const name of controllers) gauge.with({ name, manager });
  return { setRunning: (name, running) => gauge.with({ name, manager }).set(running ? 1 : 0) };
}

/** The outcome of a reconcile. An `error` is retried, a `terminal_error` is not. */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'conflict' | 'error' | 'terminal_error';

export interface ReconcileMetrics {
  observe(outcome: ReconcileOutcome, durationMs: number): void;
  /** Reads the number of workers that are reconciling. */
  active(read: () => number): void;
}

const OUTCOMES: readonly ReconcileOutcome[] = ['success', 'requeue_after', 'conflict', 'error', 'terminal_error'];
/** From half a millisecond, for a reconcile without changes, to the time limit of a reconcile. */
const RECONCILE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createReconcileMetrics(registry: MetricsRegistry, controller: string): ReconcileMetrics {
  const totals = defineCounter(registry, {
    name: 'controller_reconcile_total',
    help: 'Reconciles by controller and outcome.',
    labels: ['controller', 'outcome'],
  });
  const byOutcome = new Map<ReconcileOutcome, Counter>(
    OUTCOMES.map((outcome) => [outcome, totals.with({ controller, outcome })]),
  );
  const seconds: Histogram = defineHistogram(registry, {
    name: 'controller_reconcile_duration_seconds',
    help: 'Duration of reconciles, for all outcomes.',
    labels: ['controller'],
    buckets: RECONCILE_SECONDS,
  }).with({ controller });
  const activeWorkers = defineGauge(registry, {
    name: 'controller_active_workers',
    help: 'Workers that are currently reconciling.',
    labels: ['controller'],
  }).with({ controller });
  return {
    observe(outcome, durationMs) {
      byOutcome.get(outcome)?.inc();
      seconds.observe(durationMs / 1000);
    },
    active: (read) => activeWorkers.readFrom(read),
  };
}
