import {
  compileSelector,
  ControllerRevisions,
  DaemonSets,
  Nodes,
  Pods,
  type Cached,
  type ControllerRevision,
  type DaemonSet,
  type Pod,
} from '../../pkg/api/index.ts';
import { createClaims, PendingWrites, StatusPace, type ControllerContext } from '../../pkg/controller/index.ts';
import type { SyncDeps } from './apply-sync.ts';
import { FailedPodBackoff } from './failed-pod-backoff.ts';

/** The caches that a sync reads, and the records of its own writes. */
export function createSyncDeps(context: ControllerContext): SyncDeps {
  const { clock, informers } = context;
  const client = context.clientFor('daemon-set-controller');
  const owners = informers.informerFor(DaemonSets);
  const pods = informers.informerFor(Pods);
  const revisions = informers.informerFor(ControllerRevisions);
  const pendingPods = new PendingWrites<Pod>(pods, clock);
  const pendingRevisions = new PendingWrites<ControllerRevision>(revisions, clock);
  const selection = {
    client,
    owners,
    selectorOf: ({ spec }: Cached<DaemonSet>) => compileSelector(spec.selector),
    requiredLabelsOf: ({ spec }: Cached<DaemonSet>) => spec.selector.matchLabels ?? {},
  };
  return {
    client,
    control: { client, recorder: context.recorderFor('daemonset-controller'), ownerKind: DaemonSets },
    podClaims: createClaims<DaemonSet, Pod>({ ...selection, dependents: pods, written: pendingPods }),
    revisionClaims: createClaims<DaemonSet, ControllerRevision>({
      ...selection,
      dependents: revisions,
      written: pendingRevisions,
    }),
    nodes: informers.informerFor(Nodes).store,
    pendingPods,
    pendingRevisions,
    pendingStatus: new PendingWrites<DaemonSet>(owners, clock),
    inTerminatingNamespace: new Map(),
    statusPace: new StatusPace(clock),
    backoff: new FailedPodBackoff(clock),
    clock,
    allowComparisons: context.gates.isEnabled('TaintTolerationComparisonOperators'),
  };
}
