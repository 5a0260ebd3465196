import type { Schedule } from './schedule.ts';

/** Compensates small corrections of the clock: a sync that comes early would find nothing due. */
const wakeUpDelayMs = 100;

/** With more missed times, a clock or the controller had a problem, and an event is recorded. */
const maxMissedSilently = 100;

export interface Since {
  /** The last schedule time, or the creation of the CronJob. */
  readonly startMs: number;
  /** How late a Job may start; undefined without a deadline. */
  readonly deadlineSeconds?: number | undefined;
}

export type MostRecent =
  | {
      readonly kind: 'found';
      /** The latest missed time; undefined if there is none. */
      readonly dueMs: number | undefined;
      /** The estimated number of missed times. */
      readonly missed: number;
      readonly tooManyMissed: boolean;
    }
  /** The schedule has no further time, such as 31 February. */
  | { readonly kind: 'never' };

/**
 * Finds the latest schedule time since then. There may be many, so it uses the interval of the first two to jump near
 * the last one. For irregular schedules this may find none although some were missed, as in the Go binary.
 */
export function findMostRecent(schedule: Schedule, { startMs, deadlineSeconds }: Since, nowMs: number): MostRecent {
  const fromMs = deadlineSeconds === undefined ? startMs : Math.max(startMs, nowMs - deadlineSeconds * 1000);
  const firstMs = schedule.next(fromMs);
  if (firstMs === undefined) return { kind: 'never' };
  if (nowMs < firstMs) return { kind: 'found', dueMs: undefined, missed: 0, tooManyMissed: false };
  const secondMs = schedule.next(firstMs);
  if (secondMs === undefined) return { kind: 'never' };
  if (nowMs < secondMs) return { kind: 'found', dueMs: firstMs, missed: 0, tooManyMissed: false };
  const intervalMs = secondMs - firstMs;
  const missed = Math.floor((nowMs - firstMs) / intervalMs) + 1;
  // Start one interval earlier, because schedules may be irregular.
  let dueMs: number | undefined;
  let nextMs = schedule.next(firstMs + (missed - 2) * intervalMs);
  for (; nextMs !== undefined && nextMs <= nowMs; nextMs = schedule.next(nextMs)) dueMs = nextMs;
  return { kind: 'found', dueMs, missed, tooManyMissed: missed > maxMissedSilently };
}

/** When to requeue the CronJob for its next schedule time; undefined: never. */
export function computeWakeUp(schedule: Schedule, startMs: number, nowMs: number): number | undefined {
  const mostRecent = findMostRecent(schedule, { startMs }, nowMs);
  const nextMs = schedule.next(wakeUpBase(mostRecent, startMs, nowMs));
  return nextMs === undefined ? undefined : nextMs + wakeUpDelayMs;
}

function wakeUpBase(mostRecent: MostRecent, startMs: number, nowMs: number): number {
  if (mostRecent.kind === 'never') return nowMs;
  return mostRecent.dueMs ?? (mostRecent.missed === 0 ? startMs : nowMs);
}
