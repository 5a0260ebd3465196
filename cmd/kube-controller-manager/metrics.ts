import type { ReconcileObserver } from '../../pkg/controller/index.ts';
import {
  createControllerMetrics,
  createReconcileMetrics,
  defineCounter,
  defineGauge,
  defineProcessMetrics,
  defineRuntimeMetrics,
  recordBuildInfo,
  recordFeatures,
  type ControllerMetrics,
  type MetricsRegistry,
} from '../../pkg/metrics/index.ts';
import type { HealthObserver } from '../../pkg/server/index.ts';
import { knownGates, type GateStage } from './feature-gate-table.ts';
import type { Options } from './options.ts';
import { versionInfo } from './version.ts';

export interface ProcessMetrics {
  readonly reconciles: ReconcileObserver;
  readonly controllers: ControllerMetrics;
}

const stages: Readonly<Record<GateStage, 'ALPHA' | 'BETA' | 'DEPRECATED' | ''>> = {
  alpha: 'ALPHA',
  beta: 'BETA',
  ga: '',
  deprecated: 'DEPRECATED',
};

/** The metrics of the process itself. Every series of an enabled controller exists from the start. */
export function createProcessMetrics(
  registry: MetricsRegistry,
  { gates, controllers }: Options,
  reportedVersion: string,
): ProcessMetrics {
  defineProcessMetrics(registry);
  defineRuntimeMetrics(registry);
  const { major, minor, gitVersion, platform } = versionInfo(reportedVersion);
  recordBuildInfo(registry, {
    major,
    minor,
    gitVersion,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    runtimeVersion: `node ${process.version}`,
    compiler: 'v8',
    platform,
  });
  recordFeatures(
    registry,
    [...gates.all].map(([name, enabled]) => ({ name, enabled, stage: stages[knownGates.get(name)?.stage ?? 'ga'] })),
  );
  const names = controllers.enabled.map(({ name }) => name);
  const byController = new Map(names.map((name) => [name, createReconcileMetrics(registry, name)]));
  const reconciles: ReconcileObserver = {
    finished(name, outcome, durationMs) {
      const metrics = byController.get(name) ?? createReconcileMetrics(registry, name);
      byController.set(name, metrics);
      metrics.observe(outcome, durationMs);
    },
  };
  return { reconciles, controllers: createControllerMetrics(registry, 'kube-controller-manager', names) };
}

/** Records the results of health checks for /metrics/slis. */
export function createHealthMetrics(registry: MetricsRegistry): HealthObserver {
  const state = defineGauge(registry, {
    name: 'kubernetes_healthcheck',
    help: 'Whether a health check passed when it was last run.',
    labels: ['name', 'type'],
  });
  const total = defineCounter(registry, {
    name: 'kubernetes_healthchecks_total',
    help: 'Health checks that were run, by outcome.',
    labels: ['name', 'status', 'type'],
  });
  return ({ name, path, healthy }) => {
    state.with({ name, type: path }).set(healthy ? 1 : 0);
    total.with({ name, status: healthy ? 'success' : 'error', type: path }).inc();
  };
}
