import {
  isEqualJson,
  objectKey,
  splitKey,
  type CSIDriver,
  type KubeObject,
  type Node,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
} from '../../pkg/api/index.ts';
import { decided, type PendingWrites, type ReconcileResult } from '../../pkg/controller/index.ts';
import type { Store } from '../../informers/index.ts';
import { isPodStopped } from '../../pkg/pods/index.ts';
import { isKnownUniqueName } from '../../pkg/volumes/index.ts';
import { applyReport } from './apply.ts';
import { applyAction, type VolumeDeps } from './apply-volume.ts';
import { pluginNameOf } from './metrics.ts';
import { planVolume } from './plan.ts';
import { resolveVolumes } from './pod-volumes.ts';
import { TotalCounts, VolumeCounts, type Counted } from './volume-counts.ts';
import { takeSnapshot, type World } from './world.ts';

type CacheOf<T extends KubeObject> = { readonly store: Pick<Store<T>, 'get'> };

export interface ReconcileDeps extends Omit<VolumeDeps, 'report'> {
  readonly informers: {
    readonly pods: CacheOf<Pod>;
    readonly nodes: CacheOf<Node>;
    readonly claims: CacheOf<PersistentVolumeClaim>;
    readonly volumes: CacheOf<PersistentVolume>;
    readonly drivers: CacheOf<CSIDriver>;
  };
  readonly queues: {
    readonly volumes: { add(volumeName: string): void };
    readonly nodes: { add(key: ObjectKey): void };
  };
  readonly pending: PendingWrites<Node>;
  readonly isForceDetachDisabled: boolean;
}

export interface Reconciles {
  /** Finds out which volumes a pod needs. */
  pod(key: ObjectKey): void;
  volume(volumeName: string, signal: AbortSignal): Promise<ReconcileResult>;
  node(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult>;
  /** The volumes that the controller knows of. */
  readonly known: { get(volumeName: string): unknown };
  /** The volume turned out not to be attached any more. */
  lost(volumeName: string, nodeName: string): void;
}

export function createReconciles(deps: ReconcileDeps): Reconciles {
  const { clock, informers, isForceDetachDisabled, metrics, queues, world } = deps;
  const { actual, desired } = world;
  const inUse = new VolumeCounts(metrics.inUse);
  const totals = new TotalCounts(metrics.total);
  const report = (nodeName: string): void => queues.nodes.add(objectKey(undefined, nodeName));
  const volumeDeps = { ...deps, report };
  const caches = {
    claim: (key: ObjectKey) => informers.claims.store.get(key),
    volume: (volumeName: string) => informers.volumes.store.get(objectKey(undefined, volumeName)),
    drivers: informers.drivers.store,
  };

  function pod(key: ObjectKey): void {
    const found = informers.pods.store.get(key);
    const resolved = found && resolveVolumes(found, caches);
    inUse.set(key, found?.spec.nodeName ?? '', resolved?.plugins ?? []);
    const isNeeding = found !== undefined && resolved !== undefined && !isPodStopped(found);
    const changed = isNeeding ? desired.add(found, resolved) : desired.remove(key);
    for (const each of resolved?.attachable ?? []) actual.learn(each);
    for (const volumeName of changed) queues.volumes.add(volumeName);
  }

  async function volume(volumeName: string, signal: AbortSignal): Promise<ReconcileResult> {
    if (!isKnownUniqueName(volumeName)) return {}; // nobody here can detach it
    for (;;) {
      const snapshot = takeSnapshot(volumeName, world, { nowMs: clock.monotonic(), isForceDetachDisabled });
      const { actions, wakeInMs } = decided(planVolume(snapshot));
      for (const action of actions) await applyAction(volumeName, action, volumeDeps, signal);
      totals.set(volumeName, countedAs(volumeName, world));
      if (actions.length === 0) return { requeueAfterMs: wakeInMs };
    }
  }

  /** The status of a node says which volumes are attached. It is written before a volume is detached. */
  async function node(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const { name } = splitKey(key);
    const found = informers.nodes.store.get(key);
    const withdrawn = actual.withdrawnOn(name);
    const wanted = actual.reportOf(name);
    if (found === undefined) forgetNode(name, world);
    else if (wanted !== undefined && !isEqualJson(sorted(found.status?.volumesAttached ?? []), wanted)) {
      await applyReport(found, wanted, deps, signal);
    }
    for (const volumeName of actual.withdraw(name, withdrawn)) queues.volumes.add(volumeName);
    return {};
  }

  function lost(volumeName: string, nodeName: string): void {
    actual.markDetached(volumeName, nodeName);
    report(nodeName);
    queues.volumes.add(volumeName);
  }

  const known = { get: (volumeName: string): unknown => actual.volume(volumeName) ?? desired.volume(volumeName) };
  return { pod, volume, node, known, lost };
}

/** The node is gone. What is known of it stays until its last volume is detached. */
function forgetNode(nodeName: string, { actual, nodes }: World): void {
  if (actual.volumesOn(nodeName).size > 0) return;
  actual.forgetNode(nodeName);
  nodes.forget(nodeName);
}

/** Undefined if nobody knows what the volume is. */
function countedAs(volumeName: string, { actual, desired }: World): Counted | undefined {
  const needs = desired.needsOf(volumeName);
  const [need] = needs.values();
  const known = need?.volume ?? actual.volumeOf(volumeName);
  const attached = actual.volumeOf(volumeName) === undefined ? 0 : actual.attachmentsOf(volumeName).size;
  return known && { plugin: pluginNameOf(volumeName, known), desired: needs.size, actual: attached };
}

function sorted<T extends { readonly name: string }>(volumes: readonly T[]): T[] {
  return volumes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
