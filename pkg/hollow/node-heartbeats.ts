import { isSchedulable } from './select-node.ts';
import {
  type Cached,
  isEqualJson,
  Leases,
  metadataOf,
  type Node,
  Nodes,
  type ObjectKey,
  objectKey,
  splitKey,
} from '../api/index.ts';
import { type Client, isAlreadyExists, isNotFound } from '../client/index.ts';
import type { ReconcileResult } from '../controller/index.ts';
import type { Handler } from '../../informers/index.ts';
import type { Clock } from '../time/index.ts';
import type { WorkQueue } from '../../workqueue/index.ts';
import { type Fleet, type HollowNode, keyOfNode } from './fleet.ts';
import { buildLease, buildNode, leaseNamespace, planNodeReport, renewalPatch } from './node-object.ts';

export interface HeartbeatOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly leaseRenewMs: number;
  readonly statusReportMs: number;
}

/** The heartbeats of nodes: registration, status and lease. */
export interface Heartbeats {
  register(hollow: HollowNode, signal: AbortSignal): Promise<void>;
  reportStatus(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult>;
  renewLease(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult>;
}

export function createHeartbeats({ client, clock, fleet, ...periods }: HeartbeatOptions): Heartbeats {
  async function register(hollow: HollowNode, signal: AbortSignal): Promise<void> {
    const conditions = [...hollow.conditions.values()];
    try {
      await client.create(metadataOf(Nodes), buildNode(hollow.machine, conditions, clock.now()), signal);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error; // left by an earlier run: the next report corrects its status
    }
    hollow.reportedAtMs = clock.now();
  }

  async function reportStatus(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const hollow = fleet.get(splitKey(key).name);
    if (hollow.state !== 'alive' || hollow.node === undefined) return {};
    const { patch, nextReportMs } = planNodeReport({
      node: hollow.node,
      wanted: [...hollow.conditions.values()],
      reportedAtMs: hollow.reportedAtMs,
      reportEveryMs: periods.statusReportMs,
      nowMs: clock.now(),
    });
    if (patch !== undefined) {
      await client.patch(metadataOf(Nodes), key, { type: 'strategic', body: patch, subresource: 'status' }, signal);
      hollow.reportedAtMs = clock.now();
    }
    return { requeueAfterMs: Math.max(0, nextReportMs - clock.now()) };
  }

  async function renewLease(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const hollow = fleet.get(splitKey(key).name);
    if (hollow.state !== 'alive' || hollow.node === undefined) return {};
    if (hollow.hasLease) {
      hollow.hasLease = await patchLease(hollow.machine.name, signal);
      return { requeueAfterMs: hollow.hasLease ? periods.leaseRenewMs : 0 };
    }
    await createLease(hollow.node, signal);
    hollow.hasLease = true;
    // All nodes start together. From here on, their renewals are spread evenly over the period.
    return { requeueAfterMs: (periods.leaseRenewMs * (hollow.index + 1)) / fleet.all.length };
  }

  async function createLease(node: Cached<Node>, signal: AbortSignal): Promise<void> {
    try {
      await client.create(metadataOf(Leases), buildLease(node, clock.now()), signal);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await patchLease(node.metadata.name, signal);
    }
  }

  /** False if the lease is gone. */
  async function patchLease(name: string, signal: AbortSignal): Promise<boolean> {
    const body = renewalPatch(name, clock.now());
    try {
      await client.patch(metadataOf(Leases), objectKey(leaseNamespace, name), { type: 'merge', body }, signal);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  return { register, reportStatus, renewLease };
}

/** Keeps the Nodes of the fleet up to date, and enqueues the work that depends on them. */
export function followNodes(
  fleet: Fleet,
  queues: { readonly statuses: WorkQueue<ObjectKey>; readonly leases: WorkQueue<ObjectKey> },
  onPlacementChanged: () => void,
): Handler<Node> {
  return {
    added(node) {
      const hollow = fleet.find(node.metadata.name);
      if (hollow === undefined) return;
      hollow.node = node;
      if (hollow.state === 'gone') hollow.state = 'alive'; // the Node was recreated
      queues.statuses.add(keyOfNode(hollow));
      queues.leases.add(keyOfNode(hollow));
      onPlacementChanged();
    },
    updated(before, after) {
      const hollow = fleet.find(after.metadata.name);
      if (hollow === undefined) return;
      hollow.node = after;
      queues.statuses.add(keyOfNode(hollow));
      if (!acceptsSamePods(before, after)) onPlacementChanged();
    },
    deleted(last) {
      const hollow = fleet.find(last.metadata.name);
      if (hollow === undefined) return;
      Object.assign(hollow, { node: undefined, state: 'gone', hasLease: false });
    },
  };
}

function acceptsSamePods(before: Cached<Node>, after: Cached<Node>): boolean {
  return (
    isSchedulable(before) === isSchedulable(after) &&
    isEqualJson(before.metadata.labels, after.metadata.labels) &&
    isEqualJson(before.spec.taints, after.spec.taints)
  );
}
