import { controllerOf, ownValue, splitApiVersion, type Cached, type Pod } from '../api/index.ts';
import { parseDuration } from '../time/index.ts';

/**
 * The settings of a pod on a hollow node, as annotations or, if the value is a valid label, as labels. They are read at
 * every step, so a change on a running pod takes effect at once.
 */
export const podSettingNames = {
  /**
   * The containers exit after this long, such as `2s`; `0s`: at once; `never`: they run until the pod is deleted. Not set:
   * the containers of a Job's pod, and those with an exit code, exit after a moment, and all others never.
   */
  finishAfter: 'hollow-node/finish-after',
  /**
   * The exit code; default 0. A list such as `1,1,0` has one code per run. The last one repeats. A pod with a code other
   * than 0 fails, or crash-loops if its restart policy says so.
   */
  exitCode: 'hollow-node/exit-code',
  /** The delay from start to Ready, instead of the simulation's default. */
  readyAfter: 'hollow-node/ready-after',
  /** `true`: the containers run but never become ready. */
  neverReady: 'hollow-node/never-ready',
  /** `true`: the pod is bound, but its containers never start. */
  neverStart: 'hollow-node/never-start',
  /** How long the containers take to stop after the pod is deleted, at most the grace period. */
  stopAfter: 'hollow-node/stop-after',
  /** The exit code of stopped containers. */
  stopExitCode: 'hollow-node/stop-exit-code',
} as const;

export interface PodDefaults {
  readonly readyDelayMs: number;
  /** How long the containers of a Job's pod run. `Infinity`: until the pod is deleted. */
  readonly jobRunMs: number;
  /** Not set: containers ignore the deletion and are killed at the end of the grace period. */
  readonly stopDelayMs?: number | undefined;
  /** The delay before the second restart of a pod's containers. Doubles each time, up to `maxRestartBackoffMs`. */
  readonly restartBackoffMs: number;
}

export interface PodSettings extends Omit<PodDefaults, 'jobRunMs'> {
  readonly finishAfterMs?: number | undefined;
  /** Never empty. */
  readonly exitCodes: readonly number[];
  readonly neverReady: boolean;
  readonly neverStart: boolean;
  readonly stopExitCode?: number | undefined;
}

/** An invalid value counts as not set. */
export function selectPodSettings(pod: Cached<Pod>, defaults: PodDefaults): PodSettings {
  const { annotations, labels } = pod.metadata;
  const read = (name: string): string | undefined => ownValue(annotations, name) ?? ownValue(labels, name);
  const codes = (read(podSettingNames.exitCode) ?? '').split(',').map(parseExitCode);
  const exitCodes = codes.filter((code) => code !== undefined);
  const runMs =
    readRunTime(read(podSettingNames.finishAfter)) ??
    (isOfJob(pod) ? defaults.jobRunMs : exitCodes.length > 0 ? momentMs : undefined);
  return {
    readyDelayMs: readDuration(read(podSettingNames.readyAfter)) ?? defaults.readyDelayMs,
    stopDelayMs: readDuration(read(podSettingNames.stopAfter)) ?? defaults.stopDelayMs,
    restartBackoffMs: defaults.restartBackoffMs,
    finishAfterMs: runMs === Infinity ? undefined : runMs,
    exitCodes: exitCodes.length > 0 ? exitCodes : [0],
    neverReady: read(podSettingNames.neverReady) === 'true',
    neverStart: read(podSettingNames.neverStart) === 'true',
    stopExitCode: parseExitCode(read(podSettingNames.stopExitCode) ?? ''),
  };
}

/** How long containers run that exit on their own, unless the pod sets it. */
export const momentMs = 1000;

function isOfJob(pod: Cached<Pod>): boolean {
  const { kind, apiVersion = '' } = controllerOf(pod) ?? {};
  return kind === 'Job' && splitApiVersion(apiVersion).group === 'batch';
}

function readRunTime(text: string | undefined): number | undefined {
  return text === 'never' ? Infinity : readDuration(text);
}

function readDuration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return Math.max(0, parseDuration(text));
  } catch {
    return undefined; // a typo in one pod must not stop the simulation
  }
}

function parseExitCode(text: string): number | undefined {
  return /^\d{1,3}$/.test(text.trim()) ? Number(text) : undefined;
}
