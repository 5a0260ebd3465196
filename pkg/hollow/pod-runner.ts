import {
  type Cached,
  keyOf,
  metadataOf,
  type Node,
  type ObjectKey,
  type PersistentVolumeClaim,
  type Pod,
  Pods,
} from '../api/index.ts';
import { type Client, isConflict, isNotFound } from '../client/index.ts';
import { podsByNode, type ReconcileResult } from '../controller/index.ts';
import { defineIndex, type Handler, type Informer, type Store } from '../../informers/index.ts';
import { claimReferencesOf, isPodFinished } from '../pods/index.ts';
import type { Clock } from '../time/index.ts';
import { mayHaveAttached } from '../volumes/index.ts';
import type { WorkQueue } from '../../workqueue/index.ts';
import { podIPv4, podIPv6 } from './addresses.ts';
import { repelsOthers } from './anti-affinity.ts';
import type { ClaimGate } from './claim-gate.ts';
import type { Fleet, HollowNode } from './fleet.ts';
import { planPodStep, type PodStep } from './pod-lifecycle.ts';
import { isStale, type PodRecord, PodRecords } from './pod-records.ts';
import { areVolumesReady, compileVolumeReach, compileVolumeRoom, type VolumeStores } from './pod-volumes.ts';
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
  /** The claims that pods wait for. Undefined if a scheduler binds the pods. */
  readonly claims: Pick<Store<PersistentVolumeClaim>, 'get'> | undefined;
  /** The binding of claims that pods wait for. Undefined if nobody binds claims. */
  readonly provisioning?: ClaimGate | undefined;
  /** Where the volumes of pods are found: a pod starts when its volumes are attached. */
  readonly stores: VolumeStores;
  readonly dualStack: boolean;
}

export interface PodRunner {
  readonly handler: Handler<Pod>;
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult>;
  enqueueWaiting(): void;
  /** Enqueues the pods that fit on no node. */
  enqueueUnplaced(): void;
  /** Enqueues the pods that wait for this claim. */
  enqueueClaiming(claim: ObjectKey): void;
  enqueuePodsOn(nodeName: string): void;
  /** Enqueues the pods on the node that have not started. */
  enqueuePending(nodeName: string): void;
}

const waiting = 'waiting';
const waitingPods = defineIndex<Pod>('hollow.waiting', (pod) =>
  isWaitingForNode(pod) ? [waiting, ...claimReferencesOf(pod).map(({ key }) => key)] : [],
);

/** After a conflict: by then the cache has most likely caught up. */
const conflictRetryMs = 50;

/** Binds pods to nodes and runs them, with one binding and one write per change of status. */
export function createPodRunner(options: PodRunnerOptions): PodRunner {
  const { fleet, pods, queue } = options;
  const state: RunnerState = { ...options, records: new PodRecords(), unplaced: new Map(), nextCandidate: 0 };
  const { records } = state;
  pods.addIndex(podsByNode);
  pods.addIndex(waitingPods);

  function observe(pod: Cached<Pod>): void {
    const node = fleet.find(pod.spec.nodeName);
    if (node !== undefined) {
      records.assign(pod, node);
      records.reserveAddress(pod);
    } else if (!isWaitingForNode(pod)) return;
    queue.add(keyOf(pod));
  }

  /** A pod has left its node: pods whose anti-affinity excluded each other, or with volumes, may take its place. */
  function enqueueRepelled(last: Cached<Pod>): void {
    const keptAway = repelsOthers(last);
    for (const [key, isWaitingForRoom] of state.unplaced) if (keptAway || isWaitingForRoom) queue.add(key);
  }

  return {
    handler: {
      added: observe,
      updated(before, after) {
        observe(after);
        if (!isPodFinished(before) && isPodFinished(after)) enqueueRepelled(after);
      },
      deleted(last) {
        records.forget(last);
        state.unplaced.delete(keyOf(last));
        enqueueRepelled(last);
      },
    },
    reconcile: (key, signal) => reconcile(pods.store.get(key), state, signal),
    enqueueWaiting() {
      if (options.claims === undefined) return;
      for (const pod of pods.store.byIndex(waitingPods, waiting)) queue.add(keyOf(pod));
    },
    enqueueUnplaced() {
      for (const key of state.unplaced.keys()) queue.add(key);
    },
    enqueueClaiming(claim) {
      for (const pod of pods.store.byIndex(waitingPods, claim)) queue.add(keyOf(pod));
    },
    enqueuePodsOn(nodeName) {
      for (const pod of pods.store.byIndex(podsByNode, nodeName)) queue.add(keyOf(pod));
    },
    enqueuePending(nodeName) {
      for (const pod of pods.store.byIndex(podsByNode, nodeName)) {
        if (pod.status?.phase === 'Pending') queue.add(keyOf(pod));
      }
    },
  };
}

interface RunnerState extends Omit<PodRunnerOptions, 'pods' | 'queue'> {
  readonly records: PodRecords;
  /** The pods that fit on no node, and whether any pod that leaves a node may make room: anti-affinity, volumes. */
  readonly unplaced: Map<ObjectKey, boolean>;
  nextCandidate: number;
}

async function reconcile(
  pod: Cached<Pod> | undefined,
  state: RunnerState,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  if (pod === undefined) return {};
  try {
    const bound = isWaitingForNode(pod) ? await bind(pod, state, signal) : pod;
    return bound === undefined ? {} : await runPod(bound, state, signal);
  } catch (error) {
    if (isNotFound(error)) return {};
    if (isConflict(error)) return { requeueAfterMs: conflictRetryMs };
    throw error;
  }
}

/** Returns the pod after the binding: waiting for the cache to observe it would only delay its start. */
async function bind(pod: Cached<Pod>, state: RunnerState, signal: AbortSignal): Promise<Cached<Pod> | undefined> {
  const { claims, client, fleet, records } = state;
  if (claims === undefined || records.of(pod).node !== undefined) return undefined;
  if (claimReferencesOf(pod).some(({ key }) => claims.get(key) === undefined)) return undefined; // a new claim enqueues the pod
  const canReachBound = compileVolumeReach(pod, state.stores);
  if (canReachBound === 'unknown') return undefined; // the volume enqueues the pod
  const unbound = state.provisioning?.claimsOf(pod);
  const hasRoom = compileVolumeRoom(pod, state.stores);
  const canReachVolumes = (each: Cached<Node>): boolean =>
    canReachBound(each) && unbound?.canServe(each) !== false && hasRoom(fleet.get(each.metadata.name));
  const node = selectNode(pod, fleet.all, { startAt: state.nextCandidate, canReachVolumes });
  if (node?.node === undefined) {
    state.unplaced.set(keyOf(pod), repelsOthers(pod) || mayHaveAttached(pod)); // a change of nodes, pods or volumes enqueues the pod again
    return undefined;
  }
  state.unplaced.delete(keyOf(pod));
  if (unbound?.areBound === false) {
    await unbound.prepare(node.node, signal);
    return undefined; // a claim that becomes bound enqueues the pod again
  }
  state.nextCandidate = (node.index + 1) % fleet.all.length;
  records.assign(pod, node);
  try {
    await client.bindPod(keyOf(pod), node.machine.name, signal);
  } catch (error) {
    records.unassign(pod);
    throw error;
  }
  return { ...pod, spec: { ...pod.spec, nodeName: node.machine.name } };
}

/** Takes all steps that are due. */
async function runPod(bound: Cached<Pod>, state: RunnerState, signal: AbortSignal): Promise<ReconcileResult> {
  const { clock, defaults, fleet, records } = state;
  const node = fleet.find(bound.spec.nodeName);
  if (node === undefined || node.state !== 'alive') return {};
  const record = records.of(bound);
  for (let pod: Cached<Pod> | undefined = bound; pod !== undefined;) {
    if (isStale(pod, record)) return {};
    const settings = selectPodSettings(pod, defaults);
    const nowMs = clock.now();
    const step = planPodStep({ pod, settings, startedAtMs: record.startedAtMs, nowMs });
    if (step.kind === 'none') return {};
    if (step.kind === 'start' && !areVolumesReady(pod, node, state.stores)) return {}; // the status of the node enqueues it
    if (step.kind === 'start' && (await state.provisioning?.areClaimsUsable(pod, signal)) === false) return {};
    if (step.kind === 'wait') return { requeueAfterMs: Math.max(1, step.untilMs - nowMs) };
    pod = await applyStep(pod, { step, node, record, nowMs }, state, signal);
  }
  return {};
}

interface DueStep {
  readonly step: Exclude<PodStep, { kind: 'none' | 'wait' }>;
  readonly node: HollowNode;
  readonly record: PodRecord;
  readonly nowMs: number;
}

/** Returns the pod after the step; undefined if it is deleted. */
async function applyStep(
  pod: Cached<Pod>,
  { step, node, record, nowMs }: DueStep,
  state: RunnerState,
  signal: AbortSignal,
): Promise<Cached<Pod> | undefined> {
  const { client } = state;
  const { uid } = pod.metadata;
  if (step.kind === 'remove') {
    await client.delete(Pods, keyOf(pod), { gracePeriodSeconds: 0, preconditions: { uid } }, signal);
    return undefined;
  }
  const status = computePodStatus(pod, step, { hostIP: node.machine.ip, podIPs: podIPs(pod, node, state), nowMs });
  const body = podStatusPatch(pod, status);
  const patch = { type: 'strategic', body, subresource: 'status' } as const;
  const { metadata } = await client.patch(metadataOf(Pods), keyOf(pod), patch, signal);
  record.writtenVersion = metadata.resourceVersion;
  if (step.kind === 'start' || step.kind === 'restart') record.startedAtMs = nowMs;
  return { ...pod, metadata, status };
}

function podIPs(pod: Cached<Pod>, node: HollowNode, { records, dualStack }: RunnerState): string[] {
  if (pod.spec.hostNetwork === true) return [node.machine.ip];
  const address = records.addressOf(pod);
  return dualStack ? [podIPv4(address), podIPv6(address)] : [podIPv4(address)];
}
