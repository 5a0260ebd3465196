import type { ReconcileObserver } from '../controller/index.ts';
import { createReconcileMetrics, defineCounter, defineGauge, type MetricsRegistry } from '../metrics/index.ts';
import type { HealthObserver } from '../server/index.ts';

/** Every series of the named controllers exists from the start. */
export function createReconcileObserver(
  registry: MetricsRegistry,
  controllers: readonly string[],
  loop?: ReconcileObserver,
): ReconcileObserver {
  const byController = new Map(controllers.map((name) => [name, createReconcileMetrics(registry, name)]));
  return {
    working: (work) => loop?.working?.(work),
    begin: (work, key) => loop?.begin?.(work, key),
    finished(reconcile) {
      loop?.finished(reconcile);
      const { work, outcome, durationMs } = reconcile;
      const { name } = work;
      const metrics = byController.get(name) ?? createReconcileMetrics(registry, name);
      byController.set(name, metrics);
      metrics.observe(outcome, durationMs);
    },
  };
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
