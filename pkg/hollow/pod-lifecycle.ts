import { isConditionTrue, parseTime, isBeingDeleted, zeroTimeMs, type Cached, type Pod } from '../api/index.ts';
import type { PodSettings } from './settings.ts';

/** What a hollow node does next with a pod, or when it should look again. */
export type PodStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'wait'; readonly untilMs: number }
  /** Containers start, for the first time. */
  | { readonly kind: 'start'; readonly ready: boolean }
  /** Containers become ready, or cease to be. */
  | { readonly kind: 'setReady'; readonly ready: boolean }
  /** Containers exited, and so has the pod. */
  | { readonly kind: 'finish'; readonly exitCode: number }
  /** Containers exited and wait for their next start. */
  | { readonly kind: 'crash'; readonly exitCode: number }
  /** Containers start again; `exitCode` when their last run ends in the same moment. */
  | { readonly kind: 'restart'; readonly exitCode?: number; readonly ready: boolean }
  /** The pod was deleted and its containers have stopped. */
  | { readonly kind: 'stop'; readonly exitCode: number }
  /** Nothing runs any more: the object of a deleted pod can go. */
  | { readonly kind: 'remove' };

export interface PodView {
  readonly pod: Cached<Pod>;
  readonly settings: PodSettings;
  /** When the present run of the containers began. The status tells whole seconds only, so whoever started it knows better. */
  readonly startedAtMs?: number | undefined;
  readonly nowMs: number;
}

/** As the kubelet: the back-off between restarts grows up to five minutes. */
export const maxRestartBackoffMs = 300_000;

const killed = 137; // 128 + SIGKILL: the grace period has run out
const terminated = 143; // 128 + SIGTERM

export function planPodStep(view: PodView): PodStep {
  const { pod, settings } = view;
  const { phase } = pod.status ?? {};
  const isFinished = phase === 'Succeeded' || phase === 'Failed';
  if (isBeingDeleted(pod.metadata)) return isFinished ? planRemoval(pod) : planStop(view);
  if (isFinished || settings.neverStart) return { kind: 'none' };
  if (phase !== 'Running') return { kind: 'start', ready: isReadyAtStart(settings) };
  return isCrashed(pod) ? planRestart(view) : planRun(view);
}

function planRemoval(pod: Cached<Pod>): PodStep {
  // With 0 the server already knows that nothing runs here; what keeps the object are finalizers, which others remove.
  return pod.metadata.deletionGracePeriodSeconds === 0 ? { kind: 'none' } : { kind: 'remove' };
}

function planStop({ pod, settings, nowMs }: PodView): PodStep {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  const killedAtMs = parseTime(deletionTimestamp) ?? nowMs;
  const stopsAtMs = killedAtMs - deletionGracePeriodSeconds * 1000 + (settings.stopDelayMs ?? Infinity);
  if (nowMs < Math.min(stopsAtMs, killedAtMs)) return { kind: 'wait', untilMs: Math.min(stopsAtMs, killedAtMs) };
  return { kind: 'stop', exitCode: settings.stopExitCode ?? (stopsAtMs < killedAtMs ? terminated : killed) };
}

function planRun({ pod, settings, nowMs, ...view }: PodView): PodStep {
  const startedAtMs = view.startedAtMs ?? runStartedAt(pod);
  const endsAtMs = startedAtMs + (settings.finishAfterMs ?? Infinity);
  if (nowMs >= endsAtMs) return planExit(pod, settings);

  const readyAtMs = settings.neverReady ? Infinity : startedAtMs + settings.readyDelayMs;
  const ready = nowMs >= readyAtMs;
  if (needsReadiness(pod, ready)) return { kind: 'setReady', ready };
  const untilMs = Math.min(endsAtMs, ready ? Infinity : readyAtMs);
  return untilMs === Infinity ? { kind: 'none' } : { kind: 'wait', untilMs };
}

function planExit(pod: Cached<Pod>, settings: PodSettings): PodStep {
  const runs = restartCount(pod);
  const exitCode = settings.exitCodes[Math.min(runs, settings.exitCodes.length - 1)] ?? 0;
  const { restartPolicy = 'Always' } = pod.spec;
  const restarts = restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0);
  if (!restarts) return { kind: 'finish', exitCode };
  // The first restart comes at once; a second crash shows a pattern, and waits.
  return runs === 0 ? { kind: 'restart', exitCode, ready: isReadyAtStart(settings) } : { kind: 'crash', exitCode };
}

function planRestart({ pod, settings, nowMs }: PodView): PodStep {
  const crashedAt = pod.status?.containerStatuses?.[0]?.lastState?.terminated?.finishedAt;
  const backoffMs = Math.min(settings.restartBackoffMs * 2 ** (restartCount(pod) - 1), maxRestartBackoffMs);
  const untilMs = (parseTime(crashedAt) ?? nowMs) + backoffMs;
  if (nowMs < untilMs) return { kind: 'wait', untilMs };
  return { kind: 'restart', ready: isReadyAtStart(settings) };
}

function isReadyAtStart(settings: PodSettings): boolean {
  return !settings.neverReady && settings.readyDelayMs <= 0;
}

function needsReadiness(pod: Cached<Pod>, ready: boolean): boolean {
  const { containerStatuses = [], conditions } = pod.status ?? {};
  if (containerStatuses.some((container) => container.ready !== ready)) return true;
  const isReady = isConditionTrue(conditions, 'Ready');
  return isReady !== (ready && isReadyByGates(pod));
}

/** Whether every readiness gate of the pod is open, so that ready containers make a ready pod. */
function isReadyByGates(pod: Cached<Pod>): boolean {
  return (pod.spec.readinessGates ?? []).every((gate) => isConditionTrue(pod.status?.conditions, gate.conditionType));
}

function isCrashed(pod: Cached<Pod>): boolean {
  return pod.status?.containerStatuses?.[0]?.state?.waiting !== undefined;
}

function restartCount(pod: Cached<Pod>): number {
  return pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
}

function runStartedAt(pod: Cached<Pod>): number {
  const startedAt = pod.status?.containerStatuses?.[0]?.state?.running?.startedAt ?? pod.status?.startTime;
  return parseTime(startedAt) ?? parseTime(pod.metadata.creationTimestamp) ?? zeroTimeMs;
}
