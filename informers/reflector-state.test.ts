import { describe, expect, test } from 'vitest';
import { initialState, planNext } from './reflector-state.ts';
import type { Failure, ListMode, Outcome, Position, ReflectorState } from './reflector-state.ts';

const listing = (list: ListMode): Position => ({ at: 'unknown', list });
const at = (resourceVersion: string): Position => ({ at: 'version', resourceVersion });
const failed = (failure: Failure, resourceVersion?: string): Outcome => ({ type: 'failed', failure, resourceVersion });
const closed = (resourceVersion?: string): Outcome => ({ type: 'closed', resourceVersion });

interface Row {
  readonly name: string;
  readonly position: Position;
  readonly outcome: Outcome;
  readonly lastedMs?: number;
  readonly state?: Partial<ReflectorState>;
  readonly next: Position;
  readonly delayMs: number;
}

const watched = 300_000;
const rows: Row[] = [
  {
    name: 'a watch that the server ends at its timeout resumes from the last version at once',
    position: at('7'),
    outcome: closed('9'),
    next: at('9'),
    delayMs: 0,
  },
  {
    name: 'a watch without events resumes from its first version',
    position: at('7'),
    outcome: closed('7'),
    next: at('7'),
    delayMs: 0,
  },
  {
    name: 'a complete streamed list continues as a watch',
    position: listing('stream'),
    outcome: closed('9'),
    next: at('9'),
    delayMs: 0,
  },
  {
    name: 'a paged list is followed by a watch at once',
    position: listing('pages'),
    outcome: { type: 'listed', resourceVersion: '9' },
    lastedMs: 10,
    next: at('9'),
    delayMs: 0,
  },
  {
    name: 'after a lost connection and a delay, the watch resumes',
    position: at('7'),
    outcome: failed('unavailable', '8'),
    next: at('8'),
    delayMs: 800,
  },
  {
    name: 'an expired version leads to a list at once the first time',
    position: at('7'),
    outcome: failed('expired', '7'),
    lastedMs: 5,
    next: listing('stream'),
    delayMs: 0,
  },
  {
    name: 'an expired version shortly after trouble leads to a list after a delay',
    position: at('7'),
    outcome: failed('expired', '7'),
    lastedMs: 5,
    state: { delays: 1, lastTroubleMs: 999_000 },
    next: listing('stream'),
    delayMs: 800,
  },
  {
    name: 'a version the server has never heard of leads to a list after a delay',
    position: at('7'),
    outcome: failed('ahead', '7'),
    next: listing('stream'),
    delayMs: 800,
  },
  {
    name: 'an unforeseen failure of a watch leads to a list, lest the same event fails it for ever',
    position: at('7'),
    outcome: failed('other', '8'),
    next: listing('stream'),
    delayMs: 800,
  },
  {
    name: 'a server that refuses streamed lists is asked for pages at once',
    position: listing('stream'),
    outcome: failed('refused'),
    lastedMs: 5,
    next: listing('pages'),
    delayMs: 0,
  },
  {
    name: 'a server that has refused streamed lists is asked for pages ever after',
    position: at('7'),
    outcome: failed('expired', '7'),
    state: { streamRefused: true },
    next: listing('pages'),
    delayMs: 0,
  },
  {
    name: 'one unfinished streamed list is tried again',
    position: listing('stream'),
    outcome: closed(),
    next: listing('stream'),
    delayMs: 0,
  },
  {
    name: 'a second unfinished streamed list leads to pages',
    position: listing('stream'),
    outcome: failed('unavailable'),
    state: { unfinishedStreams: 1 },
    next: listing('pages'),
    delayMs: 800,
  },
  {
    name: 'a server that is not there is not blamed for its streams',
    position: listing('stream'),
    outcome: failed('unavailable'),
    lastedMs: 3,
    state: { unfinishedStreams: 1 },
    next: listing('stream'),
    delayMs: 800,
  },
  {
    name: 'pages that expire while they are read lead to a list in one piece',
    position: listing('pages'),
    outcome: failed('expired'),
    next: listing('whole'),
    delayMs: 0,
  },
  {
    name: 'a watch that is closed at once, as often before, is opened again after a delay',
    position: at('7'),
    outcome: closed('7'),
    lastedMs: 20,
    state: { delays: 4, lastTroubleMs: 990_000 },
    next: at('7'),
    delayMs: 6400,
  },
  {
    name: 'no delay grows beyond its limit',
    position: at('7'),
    outcome: failed('unavailable', '7'),
    lastedMs: 20,
    state: { delays: 40, lastTroubleMs: 990_000 },
    next: at('7'),
    delayMs: 30_000,
  },
  {
    name: 'trouble long after the last is new trouble',
    position: at('7'),
    outcome: failed('unavailable', '7'),
    state: { delays: 9, lastTroubleMs: 1_000_000 - 120_000 },
    next: at('7'),
    delayMs: 800,
  },
];

describe('planNext', () => {
  for (const { name, position, outcome, lastedMs = watched, state, next, delayMs } of rows) {
    test(name, () => {
      const before = { ...initialState, ...state, position };
      const step = planNext(before, { outcome, lastedMs, nowMs: 1_000_000, random: 0 });
      expect(step.state.position).toEqual(next);
      expect(step.delayMs).toBe(delayMs);
    });
  }

  test('chance doubles a delay at most', () => {
    const attempt = { outcome: failed('unavailable'), lastedMs: 5, nowMs: 0, random: 0.999 };
    const { delayMs } = planNext({ ...initialState, position: at('7') }, attempt);
    expect(delayMs).toBeGreaterThan(1500);
    expect(delayMs).toBeLessThan(1600);
  });

  const endings: [string, Outcome[]][] = [
    ['closes every watch at once', [closed('7')]],
    ['lets every version expire at once', [failed('expired', '7'), closed('7')]],
    ['refuses everything', [failed('refused')]],
    ['cannot be reached', [failed('unavailable')]],
    ['lists well, and fails every watch', [{ type: 'listed', resourceVersion: '7' }, failed('expired', '7')]],
    ['lists well, and closes every watch', [{ type: 'listed', resourceVersion: '7' }, closed('7')]],
  ];
  for (const [name, outcomes] of endings) {
    test(`a server that ${name} is asked less than thirty times in five minutes`, () => {
      let state = initialState;
      let nowMs = 0;
      let requests = 0;
      while (nowMs < 300_000) {
        const outcome = outcomes[requests++ % outcomes.length] ?? closed();
        nowMs += 1;
        const step = planNext(state, { outcome, lastedMs: 1, nowMs, random: 0.5 });
        state = step.state;
        nowMs += step.delayMs;
      }
      expect(requests).toBeLessThan(30);
    });
  }
});
