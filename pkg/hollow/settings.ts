import { ownValue, type Cached, type Pod } from '../api/index.ts';
import { parseDuration } from '../time/index.ts';

/**
 * What a pod may ask of its hollow node, as an annotation or, where the value allows it, as a label. They are read anew
 * at every step, so setting one on a running pod takes effect at once.
 */
export const podSettingNames = {
  /** The containers exit this long after they started, as `2s`; `0s`: at once. Absent: they run until deleted. */
  finishAfter: 'hollow-node/finish-after',
  /** With what code, 0 unless said. A list, as `1,1,0`, gives one code per run; the last one stays. */
  exitCode: 'hollow-node/exit-code',
  /** Ready this long after the start, instead of the simulator's default. */
  readyAfter: 'hollow-node/ready-after',
  /** `true`: the containers run but are not ready. */
  neverReady: 'hollow-node/never-ready',
  /** `true`: the pod is bound, but its containers never start. */
  neverStart: 'hollow-node/never-start',
  /** How long the containers take to stop once the pod is deleted; never longer than the grace period. */
  stopAfter: 'hollow-node/stop-after',
  /** The code with which they stop. */
  stopExitCode: 'hollow-node/stop-exit-code',
} as const;

export interface PodDefaults {
  readonly readyDelayMs: number;
  /** Absent: containers do not react to a deletion, and are killed when the grace period ends. */
  readonly stopDelayMs?: number | undefined;
  /** The wait before the second restart of a pod's containers; doubles each time, up to `maxRestartBackoffMs`. */
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

/** A value that cannot be read counts as absent. */
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
    return undefined; // a typo in one pod must not stop the simulation of all others
  }
}

function parseExitCode(text: string): number | undefined {
  return /^\d{1,3}$/.test(text.trim()) ? Number(text) : undefined;
}
