import {
  type Cached,
  type Container,
  type ContainerStatus,
  copyOf,
  findCondition,
  formatTime,
  type Pod,
  type PodCondition,
  type PodStatus,
} from '../api/index.ts';
import type { PodStep } from './pod-lifecycle.ts';

/** A step that changes the pod's status. */
export type StatusStep = Exclude<PodStep, { kind: 'none' | 'wait' | 'remove' }>;

export interface PodPlace {
  readonly hostIP: string;
  readonly podIPs: readonly string[];
  readonly nowMs: number;
}

type Run =
  | {
      readonly kind: 'running';
      readonly ready: boolean;
      readonly exitCode?: number | undefined;
      readonly fresh: boolean;
    }
  | { readonly kind: 'waiting'; readonly exitCode: number }
  | { readonly kind: 'terminated'; readonly exitCode: number };

/** The status after a step, as a kubelet would report it. */
export function computePodStatus(pod: Cached<Pod>, step: StatusStep, place: PodPlace): PodStatus {
  const run = runAfter(step);
  const before = copyOf<PodStatus>(pod.status ?? {});
  const phase = run.kind !== 'terminated' ? 'Running' : run.exitCode === 0 ? 'Succeeded' : 'Failed';
  const status: PodStatus = {
    ...before,
    observedGeneration: pod.metadata.generation,
    phase,
    hostIP: before.hostIP ?? place.hostIP,
    hostIPs: before.hostIPs ?? [{ ip: place.hostIP }],
    startTime: before.startTime ?? formatTime(place.nowMs),
    containerStatuses: pod.spec.containers.map((container) =>
      containerStatus({ pod, container, nowMs: place.nowMs }, run, find(before.containerStatuses, container)),
    ),
  };
  // A pod that was deleted before it started has no address: the kubelet creates no sandbox for it.
  if (step.kind !== 'stop' || before.podIP !== undefined) {
    status.podIP = before.podIP ?? place.podIPs[0];
    status.podIPs = before.podIPs ?? place.podIPs.map((ip) => ({ ip }));
  }
  if (pod.spec.initContainers !== undefined && pod.spec.initContainers.length > 0) {
    status.initContainerStatuses = pod.spec.initContainers.map((container) =>
      initContainerStatus({ pod, container, nowMs: place.nowMs }, run, find(before.initContainerStatuses, container)),
    );
  }
  status.conditions = computeConditions(pod, status, run, place.nowMs);
  return status;
}

/**
 * The strategic merge patch from one status to the next. The API server merges conditions by type, so conditions of other
 * writers stay. A field that a condition no longer has must be set to null.
 */
export function podStatusPatch(pod: Cached<Pod>, after: PodStatus): object {
  const conditions = (after.conditions ?? [])
    .filter((condition) => kubeletConditions.has(condition.type))
    .map((condition) => {
      const before = findCondition(pod.status?.conditions, condition.type);
      const { reason, message } = condition;
      return {
        ...condition,
        ...(before?.reason !== undefined && reason === undefined && { reason: null }),
        ...(before?.message !== undefined && message === undefined && { message: null }),
      };
    });
  return { metadata: { uid: pod.metadata.uid }, status: { ...after, conditions } };
}

function runAfter(step: StatusStep): Run {
  switch (step.kind) {
    case 'start':
      return { kind: 'running', ready: step.ready, fresh: true };
    case 'setReady':
      return { kind: 'running', ready: step.ready, fresh: false };
    case 'restart':
      return { kind: 'running', ready: step.ready, exitCode: step.exitCode, fresh: true };
    case 'crash':
      return { kind: 'waiting', exitCode: step.exitCode };
    case 'finish':
    case 'stop':
      return { kind: 'terminated', exitCode: step.exitCode };
  }
}

function find(statuses: readonly ContainerStatus[] | undefined, container: Cached<Container>) {
  return statuses?.find(({ name }) => name === container.name);
}

interface RunContainer {
  readonly pod: Cached<Pod>;
  readonly container: Cached<Container>;
  readonly nowMs: number;
}

function containerStatus(
  { pod, container, nowMs }: RunContainer,
  run: Run,
  before: ContainerStatus | undefined,
): ContainerStatus {
  const { restartCount = 0 } = before ?? {};
  const base = {
    name: container.name,
    image: container.image ?? '',
    imageID: `hollow://${container.image ?? ''}`,
    lastState: before?.lastState ?? {},
  };
  const containerID = (runNumber: number): string => `hollow://${pod.metadata.uid}/${container.name}/${runNumber}`;
  const exit = (exitCode: number) => ({
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: before?.state?.running?.startedAt ?? formatTime(nowMs),
    finishedAt: formatTime(nowMs),
    containerID: before?.containerID ?? containerID(restartCount),
  });
  switch (run.kind) {
    case 'running': {
      if (!run.fresh && before !== undefined) return { ...before, ready: run.ready };
      const runNumber = before === undefined ? 0 : restartCount + 1;
      return {
        ...base,
        ...(run.exitCode !== undefined && { lastState: { terminated: exit(run.exitCode) } }),
        containerID: containerID(runNumber),
        ready: run.ready,
        started: true,
        restartCount: runNumber,
        state: { running: { startedAt: formatTime(nowMs) } },
      };
    }
    case 'waiting':
      return {
        ...base,
        lastState: { terminated: exit(run.exitCode) },
        containerID: before?.containerID ?? containerID(restartCount),
        ready: false,
        started: false,
        restartCount,
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off restarting failed container' } },
      };
    case 'terminated':
      return {
        ...base,
        containerID: before?.containerID ?? containerID(restartCount),
        ready: false,
        started: false,
        restartCount,
        state: { terminated: exit(run.exitCode) },
      };
  }
}

/** Init containers succeed at once. Those with `restartPolicy: Always` are sidecars and run as long as the pod. */
function initContainerStatus(target: RunContainer, run: Run, before: ContainerStatus | undefined): ContainerStatus {
  const isSidecar = target.container.restartPolicy === 'Always';
  if (isSidecar && run.kind !== 'terminated') {
    const running: Run = { kind: 'running', ready: run.kind === 'waiting' || run.ready, fresh: before === undefined };
    return containerStatus(target, running, before);
  }
  if (!isSidecar && before !== undefined) return before;
  const exited = containerStatus(target, { kind: 'terminated', exitCode: 0 }, before);
  return isSidecar ? exited : { ...exited, ready: true };
}

/** The conditions that the kubelet writes. Other conditions belong to other writers. */
const kubeletConditions: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
]);

function computeConditions(pod: Cached<Pod>, status: PodStatus, run: Run, nowMs: number): PodCondition[] {
  const before = status.conditions ?? [];
  const condition = (type: string, isTrue: boolean, reason?: string, message?: string): PodCondition => {
    const value = isTrue ? 'True' : 'False';
    const known = findCondition(before, type);
    return {
      type,
      status: value,
      observedGeneration: pod.metadata.generation,
      lastProbeTime: known?.lastProbeTime,
      lastTransitionTime: known?.status === value ? known.lastTransitionTime : formatTime(nowMs),
      reason,
      message,
    };
  };
  const completed = status.phase === 'Succeeded' ? 'PodCompleted' : undefined;
  const containers = containersReadiness(status, run);
  const ready = containers.isTrue ? gatesReadiness(pod) : containers;
  const own = [
    condition('PodReadyToStartContainers', run.kind !== 'terminated'),
    condition('Initialized', true, completed),
    condition('Ready', ready.isTrue, ready.reason, ready.message),
    condition('ContainersReady', containers.isTrue, containers.reason, containers.message),
    condition('PodScheduled', true),
  ];
  return [...own, ...before.filter(({ type }) => !kubeletConditions.has(type))];
}

interface Readiness {
  readonly isTrue: boolean;
  readonly reason?: string;
  readonly message?: string;
}

function containersReadiness(status: PodStatus, run: Run): Readiness {
  if (run.kind === 'terminated') {
    return { isTrue: false, reason: run.exitCode === 0 ? 'PodCompleted' : 'PodFailed' };
  }
  const unready = (status.containerStatuses ?? []).filter(({ ready }) => !ready).map(({ name }) => name);
  if (unready.length === 0) return { isTrue: true };
  return {
    isTrue: false,
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${unready.join(' ')}]`,
  };
}

function gatesReadiness(pod: Cached<Pod>): Readiness {
  const messages = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = findCondition(pod.status?.conditions, conditionType);
    if (gate === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    if (gate.status === 'True') return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`];
  });
  if (messages.length === 0) return { isTrue: true };
  return { isTrue: false, reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}
