import type { ObjectKey } from '../../pkg/api/index.ts';
import type { SliceOperation } from '../../pkg/endpoints/index.ts';
import {
  defineCounter,
  defineGauge,
  defineHistogram,
  exponentialBuckets,
  type Histogram,
  type MetricsRegistry,
} from '../../pkg/metrics/index.ts';
import type { MirrorPlan } from './plan.ts';

const subsystem = 'endpoint_slice_mirroring_controller';

export interface MirroringMetrics {
  synced(durationMs: number): void;
  written(operation: SliceOperation): void;
  planned(endpoints: ObjectKey, plan: MirrorPlan, skipped: number): void;
  forget(endpoints: ObjectKey): void;
}

export function createMirroringMetrics(registry: MetricsRegistry, maxPerSubset: number): MirroringMetrics {
  const family = (name: string, help: string) => ({ name: `${subsystem}_${name}`, help });
  const perSync = (name: string, what: string): Histogram =>
    defineHistogram(registry, {
      ...family(`${name}_per_sync`, `Number of ${what}`),
      buckets: exponentialBuckets(2, 2, 15),
    });
  const added = perSync('endpoints_added', 'endpoints added on each Endpoints sync');
  const updated = perSync('endpoints_updated', 'endpoints updated on each Endpoints sync');
  const removed = perSync('endpoints_removed', 'endpoints removed on each Endpoints sync');
  const skippedAddresses = perSync(
    'addresses_skipped',
    'addresses skipped on each Endpoints sync due to being invalid or exceeding MaxEndpointsPerSubset',
  );
  const duration = defineHistogram(registry, {
    ...family('endpoints_sync_duration', 'Duration of syncEndpoints() in seconds'),
    buckets: exponentialBuckets(0.001, 2, 15),
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
  for (const operation of ['create', 'update', 'delete']) changes.with({ operation });

  const byOwner = new Map<ObjectKey, MirrorPlan['portGroups']>();
  const replace = (owner: ObjectKey, groups: MirrorPlan['portGroups']): void => {
    const count = (before: MirrorPlan['portGroups'], sign: 1 | -1): void => {
      for (const group of before) {
        endpoints.inc(sign * group.endpoints);
        slices.inc(sign * group.slices);
        desiredSlices.inc(sign * Math.ceil(group.endpoints / maxPerSubset));
      }
    };
    count(byOwner.get(owner) ?? [], -1);
    count(groups, 1);
    if (groups.length === 0) byOwner.delete(owner);
    else byOwner.set(owner, groups);
  };
  return {
    synced: (durationMs) => duration.observe(Math.floor(durationMs) / 1000),
    written: (operation) => changes.with({ operation }).inc(),
    planned(owner, plan, skipped) {
      skippedAddresses.observe(skipped);
      added.observe(plan.added);
      updated.observe(plan.updated);
      removed.observe(plan.removed);
      replace(owner, plan.portGroups);
    },
    forget: (owner) => replace(owner, []),
  };
}
