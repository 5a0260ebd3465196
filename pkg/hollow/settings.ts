import { ownValue, type Cached, type Pod } from '../api/index.ts';
import { parseDuration } from '../time/index.ts';

/**
 * The settings of a pod on a hollow node, as annotations or, if the value is a valid label, as labels. They are read at
 * every step, so a change on a running pod takes effect at once.
 */
export const podSettingNames = {
  /** The containers exit after this long, such as `2s`; `0s`: at once. Not set: they run until the pod is deleted. */
  finishAfter: 'hollow-node/finish-after',
  /** The exit code; default 0. A list such as `1,1,0` has one code per run. The last one repeats. */
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
  /** Not set: containers ignore the deletion and are killed at the end of the grace period. */
  readonly stopDelayMs?: number | undefined;
  /** The delay before the second restart of a pod's containers. Doubles each time, up to `maxRestartBackoffMs`. */
  readonly restartBackoffMs: number;
}

export interface PodSettings extends PodDefaults {
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
  return {
    readyDelayMs: readDuration(read(podSettingNames.readyAfter)) ?? defaults.readyDelayMs,
    stopDelayMs: readDuration(read(podSettingNames.stopAfter)) ?? defaults.stopDelayMs,
    restartBackoffMs: defaults.restartBackoffMs,
    finishAfterMs: readDuration(read(podSettingNames.finishAfter)),
    exitCodes: exitCodes.length > 0 ? exitCodes : [0],
    neverReady: read(podSettingNames.neverReady) === 'true',
    neverStart: read(podSettingNames.neverStart) === 'true',
    stopExitCode: parseExitCode(read(podSettingNames.stopExitCode) ?? ''),
  };
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
