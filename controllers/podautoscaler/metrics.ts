import {
  defineCounter,
  defineGauge,
  defineHistogram,
  exponentialBuckets,
  type MetricsRegistry,
} from '../../pkg/metrics/index.ts';
import type { Autoscaler } from './settings.ts';
import type { Evaluated } from './evaluate.ts';
import type { TimedReading } from './metric-reading.ts';
import type { Action, Outcome } from './outcome.ts';

export type AutoscalerMetrics = ReturnType<typeof defineAutoscalerMetrics>;

const prefix = 'horizontal_pod_autoscaler_controller';
const labels = ['action', 'error'] as const;
const metricLabels = ['action', 'error', 'metric_type'] as const;

/** The metrics, with the names and labels of the Go binary. */
export function defineAutoscalerMetrics(registry: MetricsRegistry) {
  const buckets = exponentialBuckets(0.001, 2, 15);
  const syncs = defineCounter(registry, {
    name: `${prefix}_reconciliations_total`,
    help: 'Syncs of HorizontalPodAutoscalers, by action (scale_up, scale_down, none) and error (spec, internal, none)',
    labels,
  });
  const syncSeconds = defineHistogram(registry, {
    name: `${prefix}_reconciliation_duration_seconds`,
    help: 'Seconds that a sync of a HorizontalPodAutoscaler took',
    labels,
    buckets,
  });
  const computations = defineCounter(registry, {
    name: `${prefix}_metric_computation_total`,
    help: 'Computations of a metric of a HorizontalPodAutoscaler, by the type of the metric',
    labels: metricLabels,
  });
  const computationSeconds = defineHistogram(registry, {
    name: `${prefix}_metric_computation_duration_seconds`,
    help: 'Seconds that a metric of a HorizontalPodAutoscaler took, from the request to the number of replicas',
    labels: metricLabels,
    buckets,
  });
  const count = defineGauge(registry, {
    name: `${prefix}_num_horizontal_pod_autoscalers`,
    help: 'HorizontalPodAutoscalers of the controller',
  });
  const desired = defineGauge(registry, {
    name: `${prefix}_desired_replicas`,
    help: 'Replicas that a HorizontalPodAutoscaler wants',
    labels: ['namespace', 'hpa_name'],
  });
  return {
    count,
    synced(autoscaler: Autoscaler, { action, failure, desiredReplicas }: Outcome, durationMs: number): void {
      const result = { action, error: errorOf(failure) };
      syncs.with(result).inc();
      syncSeconds.with(result).observe(durationMs / 1000);
      if (desiredReplicas !== undefined) desired.with(labelsOf(autoscaler)).set(desiredReplicas);
    },
    /** `currentReplicas` are those of the status before the sync. */
    computed(evaluated: readonly Evaluated[], readings: readonly TimedReading[], { status, spec }: Autoscaler): void {
      const currentReplicas = status?.currentReplicas ?? 0;
      for (const [index, each] of evaluated.entries()) {
        const result = {
          action: each.kind === 'valid' ? actionOf(each.replicas, currentReplicas) : 'none',
          error: each.kind === 'valid' ? 'none' : errorOf(each),
          metric_type: spec.metrics?.[index]?.type ?? '',
        };
        computations.with(result).inc();
        computationSeconds.with(result).observe((readings[index]?.durationMs ?? 0) / 1000);
      }
    },
    /** Removes the series of a deleted autoscaler. */
    forget({ namespace = '', name }: { readonly namespace?: string | undefined; readonly name: string }): void {
      desired.remove({ namespace, hpa_name: name });
    },
  };
}

function labelsOf({ metadata }: Autoscaler): { readonly namespace: string; readonly hpa_name: string } {
  return { namespace: metadata.namespace ?? '', hpa_name: metadata.name };
}

function actionOf(replicas: number, currentReplicas: number): Action {
  if (replicas === currentReplicas) return 'none';
  return replicas > currentReplicas ? 'scale_up' : 'scale_down';
}

function errorOf(failure: { readonly isSpec: boolean } | undefined): string {
  if (failure === undefined) return 'none';
  return failure.isSpec ? 'spec' : 'internal';
}
