import type { Schedule } from './schedule.ts';

/** Waiting this much longer makes up for small corrections of the clock: woken early, nothing would be due yet. */
const wakeUpDelayMs = 100;

/** Beyond this many, something is wrong with a clock or with us, and the user should know. */
const maxMissedSilently = 100;

export interface Since {
  /** When the CronJob last started something, or was created. */
  readonly startMs: number;
  /** How late a start may be; undefined: any time. */
  readonly deadlineSeconds?: number | undefined;
}

export type MostRecent =
  | {
      readonly kind: 'found';
      /** The latest time that has come and has not been served; undefined if none has. */
      readonly dueMs: number | undefined;
      /** About how many times have passed unserved before that. */
      readonly missed: number;
      readonly tooManyMissed: boolean;
    }
  /** The schedule has no second time to come, as that of a 31st of February. */
  | { readonly kind: 'never' };

/**
 * Finds the latest of the times that have come since then. Many may have: instead of walking through all of them, the
 * distance of the first two tells about where to look. For times that come in bunches this may find none although
 * some have passed; nothing is made up for then, as the Go binary does not either.
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
  // One interval further back than that: schedules need not be regular.
  let dueMs: number | undefined;
  let nextMs = schedule.next(firstMs + (missed - 2) * intervalMs);
  for (; nextMs !== undefined && nextMs <= nowMs; nextMs = schedule.next(nextMs)) dueMs = nextMs;
  return { kind: 'found', dueMs, missed, tooManyMissed: missed > maxMissedSilently };
}

/** When to look at the CronJob again because something will be due; undefined: never. */
export function computeWakeUp(schedule: Schedule, startMs: number, nowMs: number): number | undefined {
  const mostRecent = findMostRecent(schedule, { startMs }, nowMs);
  const nextMs = schedule.next(wakeUpBase(mostRecent, startMs, nowMs));
  return nextMs === undefined ? undefined : nextMs + wakeUpDelayMs;
}

function wakeUpBase(mostRecent: MostRecent, startMs: number, nowMs: number): number {
  if (mostRecent.kind === 'never') return nowMs;
  return mostRecent.dueMs ?? (mostRecent.missed === 0 ? startMs : nowMs);
}
