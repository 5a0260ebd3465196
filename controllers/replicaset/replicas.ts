import { controllerOf, Pods, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import {
  byController,
  createClaims,
  enqueueSelf,
  PendingWrites,
  reconcileIntervalMs,
  runWorkers,
  StatusPace,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import type { Informer } from '../../informers/index.ts';
import { isPodActive, isPodTerminating } from '../../pkg/pods/index.ts';
import { forgetOwner, syncReplicas, type SyncDeps } from './apply-sync.ts';
import { createReplicaMetrics } from './metrics.ts';
import type { ReplicaKind, Replicated } from './replica-kinds.ts';

export function createReplicaController<T extends Replicated>(
  context: ControllerContext,
  replicaKind: ReplicaKind<T>,
  workers: number,
): Controller {
  const { kind, controllerName } = replicaKind;
  const { gates } = context;
  const queue = context.queueFor(replicaKind.queueName);
  const owners = context.informers.informerFor(kind);
  const pods = context.informers.informerFor(Pods);
  const deps = createSyncDeps(context, replicaKind, { owners, pods });
  const countsTerminating = replicaKind.countsTerminating && gates.isEnabled('DeploymentReplicaSetTerminatingReplicas');
  const claims = createClaims<T, Pod>({
    client: deps.control.client,
    owners,
    dependents: pods,
    selectorOf: (owner) => replicaKind.selectorOf(owner),
    requiredLabelsOf: (owner) => replicaKind.requiredLabelsOf(owner),
    written: deps.pending,
  });

  owners.addIndex(byController);
  owners.addHandler(enqueueSelf(queue));
  const podHandlers = pods.addHandler(claims.handler(queue));

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const owner = owners.store.get(key);
    if (owner === undefined) return {};
    const isSelected = claims.selectorOf(owner);
    const isCounted = (pod: Cached<Pod>): boolean => isPodTerminating(pod) && isSelected(pod.metadata.labels);
    const terminating = countsTerminating ? claims.ownedBy(owner).filter(isCounted).length : undefined;
    const activePods = await claims.apply(claims.plan(owner, isPodActive), owner, signal);
    // Related pods only rank the pods of a scale-down.
    const related = activePods.length > (owner.spec.replicas ?? 1) ? relatedPods(owner) : [];
    return syncReplicas({ owner, activePods, relatedPods: related, terminating }, deps, signal);
  }

  function podCountOf(key: ObjectKey): number {
    const owner = owners.store.get(key);
    return owner === undefined ? 0 : claims.countOwnedBy(owner);
  }

  /** The pods of all owners with the same controller: the old and new ReplicaSets of a Deployment. */
  function relatedPods(owner: Cached<T>): readonly Cached<Pod>[] {
    const parent = controllerOf(owner);
    const siblings = parent === undefined ? [owner] : owners.store.byIndex(byController, parent.uid);
    return siblings.flatMap((sibling) => claims.ownedBy(sibling));
  }

  const care = {
    primary: owners.store,
    ownWrites: [deps.pending, deps.pendingStatus],
    onStale: replicaKind.countsSkips ? deps.metrics.waitedFor : undefined,
    minIntervalMs: (key: ObjectKey) => reconcileIntervalMs(podCountOf(key)),
    forget: (key: ObjectKey) => forgetOwner(key, deps),
  };
  const caches = [owners, pods, podHandlers];
  const work = { name: controllerName, context, queue, reconcile, caches, workers, ...care };
  return { name: controllerName, run: (signal) => runWorkers(work, signal) };
}

function createSyncDeps<T extends Replicated>(
  context: ControllerContext,
  { kind, component }: ReplicaKind<T>,
  { owners, pods }: { readonly owners: Informer<T>; readonly pods: Informer<Pod> },
): SyncDeps<T> {
  const { clock } = context;
  return {
    control: { client: context.clientFor(component), recorder: context.recorderFor(component), ownerKind: kind },
    clock,
    metrics: createReplicaMetrics(context.metrics),
    pending: new PendingWrites<Pod>(pods, clock),
    pendingStatus: new PendingWrites<T>(owners, clock),
    statusPace: new StatusPace(clock),
    inTerminatingNamespace: new Map(),
    honourDeletionCost: context.gates.isEnabled('PodDeletionCost'),
  };
}
