import {
  defineCounter,
  defineGauge,
  defineHistogram,
  type Gauge,
  type LabelledMetric,
  type MetricsRegistry,
} from '../../pkg/metrics/index.ts';
import type { Cached, KubeObject, PersistentVolume, PersistentVolumeClaim } from '../../pkg/api/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import type { Handler } from '../../informers/index.ts';
import { attributesClassOf, classOfClaim } from '../../pkg/volumes/index.ts';
import { hostPathPlugin, notAvailable, pluginOf } from './plugins.ts';

const seconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];
const operationLabels = ['plugin_name', 'operation_name'] as const;
const claimLabels = ['namespace', 'storage_class', 'volume_attributes_class'] as const;

export type BinderMetrics = ReturnType<typeof defineBinderMetrics>;

export function defineBinderMetrics(registry: MetricsRegistry) {
  const errors = { help: 'Operations on volumes that failed', labels: operationLabels };
  return {
    volumes: defineGauge(registry, {
      name: 'pv_collector_total_pv_count',
      help: 'PersistentVolumes',
      labels: ['plugin_name', 'volume_mode'],
    }),
    boundVolumes: defineGauge(registry, {
      name: 'pv_collector_bound_pv_count',
      help: 'PersistentVolumes in phase Bound',
      labels: ['storage_class'],
    }),
    unboundVolumes: defineGauge(registry, {
      name: 'pv_collector_unbound_pv_count',
      help: 'PersistentVolumes in any other phase',
      labels: ['storage_class'],
    }),
    boundClaims: defineGauge(registry, {
      name: 'pv_collector_bound_pvc_count',
      help: 'PersistentVolumeClaims in phase Bound',
      labels: claimLabels,
    }),
    unboundClaims: defineGauge(registry, {
      name: 'pv_collector_unbound_pvc_count',
      help: 'PersistentVolumeClaims in any other phase',
      labels: claimLabels,
    }),
    /** The second name is the older one. */
    operationErrors: [
      defineCounter(registry, { name: 'volume_operation_errors_total', ...errors }),
      defineCounter(registry, { name: 'volume_operation_total_errors', ...errors }),
    ],
    operationSeconds: defineHistogram(registry, {
      name: 'volume_operation_total_seconds',
      help: 'From the start of provisioning to the binding, and from the release of a volume to its end',
      labels: operationLabels,
      buckets: seconds,
    }),
    pluginSeconds: defineHistogram(registry, {
      name: 'storage_operation_duration_seconds',
      help: 'Duration of calls to volume plugins',
      labels: ['volume_plugin', 'operation_name', 'status', 'migrated'],
      buckets: seconds,
    }),
    assignedClasses: defineCounter(registry, {
      name: 'retroactive_storageclass_total',
      help: 'Attempts to assign the default class to a claim without class',
    }),
    failedClasses: defineCounter(registry, {
      name: 'retroactive_storageclass_errors_total',
      help: 'Attempts to assign the default class to a claim that failed',
    }),
  };
}

/** Counts volumes by their plugin, mode, class and phase. */
export function countVolumes({ volumes, boundVolumes, unboundVolumes }: BinderMetrics): Handler<PersistentVolume> {
  return countObjects<PersistentVolume>((volume, by) => {
    const { spec, status } = volume;
    change(volumes, { plugin_name: pluginOf(volume), volume_mode: spec.volumeMode ?? 'Filesystem' }, by);
    const gauge = status?.phase === 'Bound' ? boundVolumes : unboundVolumes;
    change(gauge, { storage_class: spec.storageClassName ?? '' }, by);
  });
}

/** Counts claims by their namespace, classes and phase. */
export function countClaims({ boundClaims, unboundClaims }: BinderMetrics): Handler<PersistentVolumeClaim> {
  return countObjects<PersistentVolumeClaim>((claim, by) => {
    const gauge = claim.status?.phase === 'Bound' ? boundClaims : unboundClaims;
    const labels = {
      namespace: claim.metadata.namespace ?? '',
      storage_class: classOfClaim(claim),
      volume_attributes_class: attributesClassOf(claim),
    };
    change(gauge, labels, by);
  });
}

function countObjects<T extends KubeObject>(count: (object: Cached<T>, by: 1 | -1) => void): Handler<T> {
  return {
    added: (object) => count(object, 1),
    updated(before, after) {
      if (before === after) return;
      count(before, -1);
      count(after, 1);
    },
    deleted: (last) => count(last, -1),
  };
}

/** A series that is at zero is not there, as in Go. */
function change<L extends string>(
  gauges: LabelledMetric<L, Gauge>,
  labels: Readonly<Record<L, string>>,
  by: number,
): void {
  const gauge = gauges.with(labels);
  gauge.inc(by);
  if (gauge.value === 0) gauges.remove(labels);
}

/** Since when volumes are provisioned or deleted, by the key of the claim or of the volume. */
export class OperationTimes {
  readonly #metrics: BinderMetrics;
  readonly #started = new Map<string, { readonly plugin: string; readonly operation: string; readonly atMs: number }>();
  readonly #now: () => number;

  constructor(metrics: BinderMetrics, now: () => number) {
    this.#metrics = metrics;
    this.#now = now;
  }

  /** Has no effect if it has begun already. */
  begin(key: string, plugin: string, operation: 'provision' | 'delete'): void {
    if (!this.#started.has(key)) this.#started.set(key, { plugin, operation, atMs: this.#now() });
  }

  failed(key: string): void {
    const started = this.#started.get(key);
    if (started === undefined) return;
    const plugin = started.plugin === '' ? notAvailable : started.plugin;
    for (const counter of this.#metrics.operationErrors) {
      counter.with({ plugin_name: plugin, operation_name: started.operation }).inc();
    }
  }

  succeeded(key: string): void {
    const started = this.#started.get(key);
    if (started === undefined) return;
    this.#started.delete(key);
    const { plugin, operation, atMs } = started;
    const histogram = this.#metrics.operationSeconds.with({ plugin_name: plugin, operation_name: operation });
    histogram.observe((this.#now() - atMs) / 1000);
  }

  abandon(key: string): void {
    this.#started.delete(key);
  }
}

/** Times a call of the one plugin that provisions and deletes. */
export async function timePlugin(
  { pluginSeconds }: BinderMetrics,
  clock: Pick<Clock, 'monotonic'>,
  operation: 'volume_provision' | 'volume_delete',
  call: () => Promise<void>,
): Promise<void> {
  const startMs = clock.monotonic();
  let status = 'fail-unknown';
  try {
    await call();
    status = 'success';
  } finally {
    const labels = { volume_plugin: hostPathPlugin, operation_name: operation, status, migrated: 'false' };
    pluginSeconds.with(labels).observe((clock.monotonic() - startMs) / 1000);
  }
}
