import type { ObjectKey } from '../../pkg/api/index.ts';
import type { SliceOperation } from '../../pkg/endpoints/index.ts';
import {
  defineCounter,
  defineGauge,
  defineHistogram,
  exponentialBuckets,
  type MetricsRegistry,
} from '../../pkg/metrics/index.ts';
import type { Plan } from './plan.ts';

const subsystem = 'endpoint_slice_controller';

interface Totals {
  readonly endpoints: number;
  readonly slices: number;
  /** The minimum number: all slices are full, except the last of each combination of ports. */
  readonly desiredSlices: number;
}

const none: Totals = { endpoints: 0, slices: 0, desiredSlices: 0 };

export type SyncResult = 'success' | 'stale' | 'error';

export interface EndpointSliceMetrics {
  synced(result: SyncResult): void;
  written(operation: SliceOperation): void;
  /** A sync of one address family. */
  planned(plan: Pick<Plan, 'added' | 'removed'>): void;
  changed(
    slices: number,
    labels: { readonly topology: 'Auto' | 'Disabled'; readonly trafficDistribution: string },
  ): void;
  /** Sets the counts of one Service over all its address families. */
  counted(service: ObjectKey, groups: Plan['portGroups'], trafficDistribution: string | undefined): void;
  forget(service: ObjectKey): void;
}

function defineSeries(registry: MetricsRegistry) {
  const family = (name: string, help: string) => ({ name: `${subsystem}_${name}`, help });
  const buckets = exponentialBuckets(2, 2, 15);
  const added = defineHistogram(registry, {
    ...family('endpoints_added_per_sync', 'Number of endpoints added on each Service sync'),
    buckets,
  });
  const removed = defineHistogram(registry, {
    ...family('endpoints_removed_per_sync', 'Number of endpoints removed on each Service sync'),
    buckets,
  });
  const endpoints = defineGauge(registry, family('endpoints_desired', 'Number of endpoints desired'));
  const slices = defineGauge(registry, family('num_endpoint_slices', 'Number of EndpointSlices'));
  const desiredSlices = defineGauge(
    registry,
    family('desired_endpoint_slices', 'Number of EndpointSlices that would exist with perfect endpoint allocation'),
  );
  const changes = defineCounter(registry, {
    ...family('changes', 'Number of EndpointSlice changes'),
    labels: ['operation'],
  });
  const changedPerSync = defineHistogram(registry, {
    ...family('endpointslices_changed_per_sync', 'Number of EndpointSlices changed on each Service sync'),
    labels: ['topology', 'traffic_distribution'],
  });
  const syncs = defineCounter(registry, { ...family('syncs', 'Number of EndpointSlice syncs'), labels: ['result'] });
  const services = defineGauge(registry, {
    ...family('services_count_by_traffic_distribution', 'Number of Services using some specific trafficDistribution'),
    labels: ['traffic_distribution'],
  });
  return { added, removed, endpoints, slices, desiredSlices, changes, changedPerSync, syncs, services };
}

export function createEndpointSliceMetrics(registry: MetricsRegistry, maxPerSlice: number): EndpointSliceMetrics {
  const series = defineSeries(registry);
  const { endpoints, slices, desiredSlices, changes, syncs, services } = series;
  for (const operation of ['create', 'update', 'delete']) changes.with({ operation });
  for (const result of ['success', 'stale', 'error']) syncs.with({ result });

  const byService = new Map<ObjectKey, { readonly totals: Totals; readonly trafficDistribution: string | undefined }>();
  const replace = (service: ObjectKey, totals: Totals, trafficDistribution: string | undefined): void => {
    const before = byService.get(service);
    endpoints.inc(totals.endpoints - (before?.totals.endpoints ?? 0));
    slices.inc(totals.slices - (before?.totals.slices ?? 0));
    desiredSlices.inc(totals.desiredSlices - (before?.totals.desiredSlices ?? 0));
    if (before?.trafficDistribution === trafficDistribution) return;
    if (before?.trafficDistribution !== undefined) {
      services.with({ traffic_distribution: before.trafficDistribution }).dec();
    }
    if (trafficDistribution !== undefined) services.with({ traffic_distribution: trafficDistribution }).inc();
  };
  return {
    synced: (result) => syncs.with({ result }).inc(),
    written: (operation) => changes.with({ operation }).inc(),
    planned(plan) {
      series.added.observe(plan.added);
      series.removed.observe(plan.removed);
    },
    changed: (count, { topology, trafficDistribution }) =>
      series.changedPerSync.with({ topology, traffic_distribution: trafficDistribution }).observe(count),
    counted(service, groups, trafficDistribution) {
      const totals = totalsOf(groups, maxPerSlice);
      replace(service, totals, trafficDistribution);
      byService.set(service, { totals, trafficDistribution });
    },
    forget(service) {
      replace(service, none, undefined);
      byService.delete(service);
    },
  };
}

export function totalsOf(groups: Plan['portGroups'], maxPerSlice: number): Totals {
  const totals = { endpoints: 0, slices: 0, desiredSlices: 0 };
  for (const group of groups) {
    totals.endpoints += group.endpoints;
    totals.slices += group.slices;
    totals.desiredSlices += Math.ceil(group.endpoints / maxPerSlice);
  }
  return { ...totals, desiredSlices: Math.max(1, totals.desiredSlices) }; // a Service without endpoints has one empty slice
}
