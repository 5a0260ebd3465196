import { isConditionTrue, parseTime, isBeingDeleted, zeroTimeMs, type Cached, type Pod } from '../api/index.ts';
import type { PodSettings } from './settings.ts';

/** The next step of a hollow node for a pod. */
export type PodStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'wait'; readonly untilMs: number }
  /** Containers start, for the first time. */
  | { readonly kind: 'start'; readonly ready: boolean }
  /** Containers become ready, or not ready. */
  | { readonly kind: 'setReady'; readonly ready: boolean }
  /** Containers exited, and the pod is finished. */
  | { readonly kind: 'finish'; readonly exitCode: number }
  /** Containers exited and wait for their restart. */
  | { readonly kind: 'crash'; readonly exitCode: number }
  /** Containers restart. `exitCode` is set if their last run ends at the same time. */
  | { readonly kind: 'restart'; readonly exitCode?: number; readonly ready: boolean }
  /** The pod was deleted and its containers have stopped. */
  | { readonly kind: 'stop'; readonly exitCode: number }
  /** All containers have stopped: remove the object of the deleted pod. */
  | { readonly kind: 'remove' };

export interface PodView {
  readonly pod: Cached<Pod>;
  readonly settings: PodSettings;
  /** When the current run of the containers started. More exact than the status, which has whole seconds. */
  readonly startedAtMs?: number | undefined;
  readonly nowMs: number;
}

/** Like the kubelet: the back-off between restarts grows up to five minutes. */
export const maxRestartBackoffMs = 300_000;

const killed = 137; // 128 + SIGKILL: the grace period has ended
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
  // With 0, the API server already knows that no container runs. Only finalizers keep the object.
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
  // The first restart is immediate. Later restarts wait for the back-off.
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

/** Whether all readiness gates of the pod are true. */
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
