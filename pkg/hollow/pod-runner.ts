import {
  type Cached,
  compareResourceVersions,
  keyOf,
  metadataOf,
  type ObjectKey,
  type Pod,
  Pods,
} from '../api/index.ts';
import { type Client, isConflict, isNotFound } from '../client/index.ts';
import { podsByNode, type ReconcileResult } from '../controller/index.ts';
import { defineIndex, type Handler, type Informer } from '../../informers/index.ts';
import type { Clock } from '../time/index.ts';
import type { WorkQueue } from '../../workqueue/index.ts';
import { AddressPool, podIPv4, podIPv6 } from './addresses.ts';
import type { Fleet, HollowNode } from './fleet.ts';
import { planPodStep, type PodStep } from './pod-lifecycle.ts';
import { computePodStatus, podStatusPatch } from './pod-status.ts';
import { isWaitingForNode, selectNode } from './select-node.ts';
import { type PodDefaults, selectPodSettings } from './settings.ts';

export interface PodRunnerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly pods: Informer<Pod>;
  readonly queue: WorkQueue<ObjectKey>;
  readonly defaults: PodDefaults;
  /** Off when a scheduler does the binding. */
  readonly bindsPods: boolean;
  readonly dualStack: boolean;
}

/** What a node remembers of a pod beyond its status. */
interface PodRecord {
  node?: HollowNode | undefined;
  address?: number | undefined;
  startedAtMs?: number | undefined;
  /** The version of our last write: older states in the cache are the past, and acting on them would repeat it. */
  writtenVersion?: string | undefined;
}

export interface PodRunner {
  readonly handler: Handler<Pod>;
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult>;
  enqueueWaiting(): void;
  enqueuePodsOn(nodeName: string): void;
}

const waiting = 'waiting';
const waitingPods = defineIndex<Pod>('hollow.waiting', (pod) => (isWaitingForNode(pod) ? [waiting] : []));

/** Somebody else wrote in between: by then the cache has most likely caught up. */
const conflictRetryMs = 50;

/** Places pods on nodes and leads each through its life, with one binding and one write per change of status. */
export function createPodRunner(options: PodRunnerOptions): PodRunner {
  const { client, clock, fleet, pods, queue } = options;
  const records = new Map<string, PodRecord>();
  const addresses = new AddressPool();
  let nextCandidate = 0;
  pods.addIndex(podsByNode);
  pods.addIndex(waitingPods);

  function recordOf(pod: Cached<Pod>): PodRecord {
    const known = records.get(pod.metadata.uid);
    if (known !== undefined) return known;
    const record: PodRecord = {};
    records.set(pod.metadata.uid, record);
    return record;
  }

  function settle(record: PodRecord, node: HollowNode): void {
    if (record.node !== undefined) return;
    record.node = node;
    node.load++;
  }

  function see(pod: Cached<Pod>): void {
    const node = fleet.find(pod.spec.nodeName);
    if (node !== undefined) {
      const record = recordOf(pod);
      settle(record, node);
      if (pod.status?.podIP !== undefined) record.address ??= addresses.reserve(pod.status.podIP);
    } else if (!isWaitingForNode(pod)) return;
    queue.add(keyOf(pod));
  }

  const handler: Handler<Pod> = {
    added: see,
    updated: (_before, after) => see(after),
    deleted(last) {
      const record = records.get(last.metadata.uid);
      records.delete(last.metadata.uid);
      if (record?.node !== undefined) record.node.load--;
      if (record?.address !== undefined) addresses.release(record.address);
    },
  };

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const pod = pods.store.get(key);
    if (pod === undefined) return {};
    try {
      const placed = isWaitingForNode(pod) ? await bind(pod, signal) : pod;
      return placed === undefined ? {} : await lead(placed, signal);
    } catch (error) {
      if (isNotFound(error)) return {};
      if (isConflict(error)) return { requeueAfterMs: conflictRetryMs };
      throw error;
    }
  }

  /** The pod as it is after the binding: waiting for the cache to say so would only delay its start. */
  async function bind(pod: Cached<Pod>, signal: AbortSignal): Promise<Cached<Pod> | undefined> {
    const record = recordOf(pod);
    if (!options.bindsPods || record.node !== undefined) return undefined;
    const node = selectNode(pod, fleet.all, nextCandidate);
    if (node === undefined) return undefined; // a change of nodes brings it back
    nextCandidate = (node.index + 1) % fleet.all.length;
    settle(record, node);
    try {
      await client.bindPod(keyOf(pod), node.machine.name, signal);
    } catch (error) {
      record.node = undefined;
      node.load--;
      throw error;
    }
    return { ...pod, spec: { ...pod.spec, nodeName: node.machine.name } };
  }

  /** Takes every step that is due. */
  async function lead(placed: Cached<Pod>, signal: AbortSignal): Promise<ReconcileResult> {
    const node = fleet.find(placed.spec.nodeName);
    if (node === undefined || node.state !== 'alive') return {};
    const record = recordOf(placed);
    for (let pod: Cached<Pod> | undefined = placed; pod !== undefined;) {
      if (isOutdated(pod, record)) return {};
      const settings = selectPodSettings(pod, options.defaults);
      const nowMs = clock.now();
      const step = planPodStep({ pod, settings, startedAtMs: record.startedAtMs, nowMs });
      if (step.kind === 'none') return {};
      if (step.kind === 'wait') return { requeueAfterMs: Math.max(1, step.untilMs - nowMs) };
      pod = await apply(pod, step, { node, record, nowMs }, signal);
    }
    return {};
  }

  async function apply(
    pod: Cached<Pod>,
    step: Exclude<PodStep, { kind: 'none' | 'wait' }>,
    { node, record, nowMs }: { readonly node: HollowNode; readonly record: PodRecord; readonly nowMs: number },
    signal: AbortSignal,
  ): Promise<Cached<Pod> | undefined> {
    const { uid } = pod.metadata;
    if (step.kind === 'remove') {
      await client.delete(Pods, keyOf(pod), { gracePeriodSeconds: 0, preconditions: { uid } }, signal);
      return undefined;
    }
    const status = computePodStatus(pod, step, { hostIP: node.machine.ip, podIPs: podIPs(pod, record, node), nowMs });
    const body = podStatusPatch(pod, status);
    const patch = { type: 'strategic', body, subresource: 'status' } as const;
    const { metadata } = await client.patch(metadataOf(Pods), keyOf(pod), patch, signal);
    record.writtenVersion = metadata.resourceVersion;
    if (step.kind === 'start' || step.kind === 'restart') record.startedAtMs = nowMs;
    return { ...pod, metadata, status };
  }

  function podIPs(pod: Cached<Pod>, record: PodRecord, node: HollowNode): string[] {
    if (pod.spec.hostNetwork === true) return [node.machine.ip];
    record.address ??= addresses.take();
    return options.dualStack ? [podIPv4(record.address), podIPv6(record.address)] : [podIPv4(record.address)];
  }

  return {
    handler,
    reconcile,
    enqueueWaiting() {
      if (!options.bindsPods) return;
      for (const pod of pods.store.byIndex(waitingPods, waiting)) queue.add(keyOf(pod));
    },
    enqueuePodsOn(nodeName) {
      for (const pod of pods.store.byIndex(podsByNode, nodeName)) queue.add(keyOf(pod));
    },
  };
}

function isOutdated(pod: Cached<Pod>, { writtenVersion }: PodRecord): boolean {
  return writtenVersion !== undefined && compareResourceVersions(pod.metadata.resourceVersion, writtenVersion) < 0;
}
