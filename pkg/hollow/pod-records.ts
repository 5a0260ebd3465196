import { compareResourceVersions, type Cached, type Pod } from '../api/index.ts';
import { isPodFinished } from '../pods/index.ts';
import { AddressPool } from './addresses.ts';
import { repelsOthers } from './anti-affinity.ts';
import type { HollowNode } from './fleet.ts';

/** The state of a pod that its status does not have. */
export interface PodRecord {
  readonly node?: HollowNode | undefined;
  readonly address?: number | undefined;
  startedAtMs?: number | undefined;
  /** The resource version of our last write. Acting on an older state in the cache would repeat the write. */
  writtenVersion?: string | undefined;
}

type WritableRecord = { -readonly [K in keyof PodRecord]: PodRecord[K] };

/** The records of all pods by uid. Keeps the loads of nodes and the addresses in use consistent with them. */
export class PodRecords {
  readonly #byUid = new Map<string, WritableRecord>();
  readonly #addresses = new AddressPool();

  of(pod: Cached<Pod>): PodRecord {
    return this.#recordOf(pod);
  }

  assign(pod: Cached<Pod>, node: HollowNode): void {
    const record = this.#recordOf(pod);
    if (record.node === undefined) {
      record.node = node;
      node.load++;
    }
    settle(pod, record.node);
  }

  unassign(pod: Cached<Pod>): void {
    const record = this.#byUid.get(pod.metadata.uid); // absent if the pod was deleted meanwhile
    if (record?.node === undefined) return;
    record.node.load--;
    leave(pod.metadata.uid, record.node);
    record.node = undefined;
  }

  /** Reserves the address that the pod's status already has. */
  reserveAddress(pod: Cached<Pod>): void {
    if (pod.status?.podIP !== undefined) this.#recordOf(pod).address ??= this.#addresses.reserve(pod.status.podIP);
  }

  addressOf(pod: Cached<Pod>): number {
    return (this.#recordOf(pod).address ??= this.#addresses.take());
  }

  forget({ metadata: { uid } }: Cached<Pod>): void {
    const record = this.#byUid.get(uid);
    this.#byUid.delete(uid);
    if (record?.node !== undefined) {
      record.node.load--;
      leave(uid, record.node);
    }
    if (record?.address !== undefined) this.#addresses.release(record.address);
  }

  #recordOf({ metadata: { uid } }: Cached<Pod>): WritableRecord {
    const known = this.#byUid.get(uid);
    if (known !== undefined) return known;
    const record: WritableRecord = {};
    this.#byUid.set(uid, record);
    return record;
  }
}

/** Adds the pod, in its current state, to the pods of the node. A finished pod does not count. */
function settle(pod: Cached<Pod>, { neighbours: { pods, repelling } }: HollowNode): void {
  const { uid } = pod.metadata;
  if (isPodFinished(pod)) {
    pods.delete(uid);
    repelling.delete(uid);
    return;
  }
  pods.set(uid, pod);
  if (repelsOthers(pod)) repelling.set(uid, pod);
}

function leave(uid: string, { neighbours: { pods, repelling } }: HollowNode): void {
  pods.delete(uid);
  repelling.delete(uid);
}

/** Whether the cached pod is older than our last write to it. */
export function isStale(pod: Cached<Pod>, { writtenVersion }: PodRecord): boolean {
  return writtenVersion !== undefined && compareResourceVersions(pod.metadata.resourceVersion, writtenVersion) < 0;
}
