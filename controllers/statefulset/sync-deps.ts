import type { ControllerRevision, Pod, StatefulSet } from '../../pkg/api/index.ts';
import { PendingWrites, StatusPace, type ControllerContext } from '../../pkg/controller/index.ts';
import type { Informer } from '../../informers/index.ts';
import type { SyncDeps } from './apply-sync.ts';
import type { Claim } from './claims.ts';
import { createStatefulSetMetrics } from './metrics.ts';

export const name = 'statefulset-controller';

export interface Caches {
  readonly sets: Informer<StatefulSet>;
  readonly pods: Informer<Pod>;
  readonly claims: Informer<Claim>;
  readonly revisions: Informer<ControllerRevision>;
}

export function createSyncDeps(context: ControllerContext, { sets, pods, claims, revisions }: Caches): SyncDeps {
  const { clock, gates } = context;
  return {
    client: context.clientFor(name),
    recorder: context.recorderFor(name),
    pendingPods: new PendingWrites<Pod>(pods, clock),
    pendingClaims: new PendingWrites<Claim>(claims, clock),
    pendingRevisions: new PendingWrites<ControllerRevision>(revisions, clock),
    pendingSets: new PendingWrites<StatefulSet>(sets, clock),
    statusPace: new StatusPace(clock),
    clock,
    metrics: createStatefulSetMetrics(context.metrics),
    gates: {
      comparesMeaning: gates.isEnabled('StatefulSetSemanticRevisionComparison'),
      maxUnavailable: gates.isEnabled('MaxUnavailableStatefulSet'),
    },
  };
}
