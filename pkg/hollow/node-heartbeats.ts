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
import { createCsiNode } from './csi.ts';
import { type Fleet, type HollowNode, keyOfNode } from './fleet.ts';
import { powerOf, type Power } from './machine-power.ts';
import {
  buildLease,
  buildNode,
  healthyConditions,
  leaseNamespace,
  planNodeReport,
  renewalPatch,
  shuttingDown,
} from './node-object.ts';

export interface HeartbeatOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly leaseRenewMs: number;
  readonly statusReportMs: number;
  /** The volumes that pods on the node use. */
  volumesInUse(hollow: HollowNode): readonly string[];
}

/** The heartbeats of nodes: registration, status and lease. */
export interface Heartbeats {
  register(hollow: HollowNode, signal: AbortSignal): Promise<void>;
  reportStatus(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult>;
  renewLease(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult>;
}

export function createHeartbeats({ client, clock, fleet, volumesInUse, ...periods }: HeartbeatOptions): Heartbeats {
  async function register(hollow: HollowNode, signal: AbortSignal): Promise<void> {
    const conditions = [...hollow.conditions.values()];
    try {
      const node = await client.create(metadataOf(Nodes), buildNode(hollow.machine, conditions, clock.now()), signal);
      await createCsiNode(client, node, signal);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error; // left by an earlier run: the next report corrects its status
    }
    hollow.reportedAtMs = clock.now();
  }

  async function reportStatus(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const hollow = fleet.get(splitKey(key).name);
    const isLast = hollow.state === 'stopping';
    if ((!isLast && hollow.state !== 'alive') || hollow.node === undefined) return {};
    const { patch, nextReportMs } = planNodeReport({
      node: hollow.node,
      wanted: [...hollow.conditions.values()],
      volumesInUse: volumesInUse(hollow),
      reportedAtMs: hollow.reportedAtMs,
      reportEveryMs: periods.statusReportMs,
      nowMs: clock.now(),
    });
    if (patch !== undefined) {
      await client.patch(metadataOf(Nodes), key, { type: 'strategic', body: patch, subresource: 'status' }, signal);
      hollow.reportedAtMs = clock.now();
    }
    if (isLast && hollow.state === 'stopping') hollow.state = 'off';
    return { requeueAfterMs: Math.max(0, nextReportMs - clock.now()) };
  }

  async function renewLease(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const hollow = fleet.get(splitKey(key).name);
    if (hollow.state !== 'alive' || hollow.node === undefined) return {};
    if (hollow.hasLease) {
      hollow.hasLease = await patchLease({ client, clock }, hollow.machine.name, signal);
      return { requeueAfterMs: hollow.hasLease ? periods.leaseRenewMs : 0 };
    }
    await createLease({ client, clock }, hollow.node, signal);
    hollow.hasLease = true;
    // All nodes start together. From here on, their renewals are spread evenly over the period.
    return { requeueAfterMs: (periods.leaseRenewMs * (hollow.index + 1)) / fleet.all.length };
  }

  return { register, reportStatus, renewLease };
}

type LeaseWriter = Pick<HeartbeatOptions, 'client' | 'clock'>;

async function createLease({ client, clock }: LeaseWriter, node: Cached<Node>, signal: AbortSignal): Promise<void> {
  try {
    await client.create(metadataOf(Leases), buildLease(node, clock.now()), signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await patchLease({ client, clock }, node.metadata.name, signal);
  }
}

/** False if the lease does not exist. */
async function patchLease({ client, clock }: LeaseWriter, name: string, signal: AbortSignal): Promise<boolean> {
  const body = renewalPatch(name, clock.now());
  try {
    await client.patch(metadataOf(Leases), objectKey(leaseNamespace, name), { type: 'merge', body }, signal);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Called when the work on pods depends on a change of nodes. */
interface NodeCallbacks {
  /** Other pods than before may be placed. */
  placementChanged(): void;
  volumesChanged(nodeName: string): void;
  switchedOn(nodeName: string): void;
}

/** Keeps the Nodes of the fleet up to date, and enqueues the work that depends on them. */
export function followNodes(
  fleet: Fleet,
  queues: { readonly statuses: WorkQueue<ObjectKey>; readonly leases: WorkQueue<ObjectKey> },
  on: NodeCallbacks,
): Handler<Node> {
  return {
    added(node) {
      const hollow = fleet.find(node.metadata.name);
      if (hollow === undefined) return;
      hollow.node = node;
      if (hollow.state === 'gone') hollow.state = 'alive'; // the Node was recreated
      switchMachine(hollow, powerOf(node));
      queues.statuses.add(keyOfNode(hollow));
      queues.leases.add(keyOfNode(hollow));
      on.placementChanged();
    },
    updated(before, after) {
      const hollow = fleet.find(after.metadata.name);
      if (hollow === undefined) return;
      hollow.node = after;
      switchMachine(hollow, powerOf(after));
      queues.statuses.add(keyOfNode(hollow));
      if (hollow.state === 'alive' && powerOf(before) !== 'on') {
        queues.leases.add(keyOfNode(hollow));
        on.switchedOn(after.metadata.name);
      }
      if (!acceptsSamePods(before, after)) on.placementChanged();
      if (!hasSameVolumes(before, after)) on.volumesChanged(after.metadata.name);
    },
    deleted(last) {
      const hollow = fleet.find(last.metadata.name);
      if (hollow === undefined) return;
      for (const condition of healthyConditions) hollow.conditions.set(condition.type, condition);
      Object.assign(hollow, { node: undefined, state: 'gone', hasLease: false });
    },
  };
}

function hasSameVolumes(before: Cached<Node>, after: Cached<Node>): boolean {
  return (
    isEqualJson(before.status?.volumesAttached, after.status?.volumesAttached) &&
    isEqualJson(before.status?.volumesInUse, after.status?.volumesInUse)
  );
}

/** Switches the machine of a node off and on, as its annotation says. */
function switchMachine(hollow: HollowNode, power: Power): void {
  const { state, conditions } = hollow;
  if (power === 'on') {
    if (state !== 'off' && state !== 'stopping') return;
    for (const condition of healthyConditions) conditions.set(condition.type, condition);
    Object.assign(hollow, { state: 'alive', reportedAtMs: 0 }); // report at once
  } else if (state === 'alive') {
    conditions.set(shuttingDown.type, shuttingDown);
    hollow.state = 'stopping';
  }
}

function acceptsSamePods(before: Cached<Node>, after: Cached<Node>): boolean {
  return (
    isSchedulable(before) === isSchedulable(after) &&
    isEqualJson(before.metadata.labels, after.metadata.labels) &&
    isEqualJson(before.spec.taints, after.spec.taints)
  );
}
