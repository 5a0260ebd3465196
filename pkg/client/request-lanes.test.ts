import { describe, expect, test } from 'vitest';

import { RequestLanes, type Lane } from './request-lanes.ts';

const limits = { lane: 4, all: 6, first: 8 };

/** The lanes of requests, `client/namespace`, in the order in which the requests were started. */
class Requests {
  readonly started: string[] = [];
  readonly #lanes = new RequestLanes(limits, (serve) => serve());
  readonly #leave = new Map<string, (() => void)[]>();

  enter(...lanes: readonly string[]): () => void {
    let leave = (): void => {};
    for (const text of lanes) {
      leave = this.#lanes.enter(laneOf(text), () => this.started.push(text));
      this.#leave.set(text, [...(this.#leave.get(text) ?? []), leave]);
    }
    return leave;
  }

  /** Ends the oldest request of each of these lanes. */
  end(...lanes: readonly string[]): void {
    for (const text of lanes) this.#leave.get(text)?.shift()?.();
  }
}

function laneOf(text: string): Lane {
  const [client = '', namespace = ''] = text.split('/');
  return { client, namespace };
}

const times = (count: number, lane: string): string[] => Array.from({ length: count }, () => lane);

interface Row {
  readonly name: string;
  readonly entered: readonly string[];
  readonly ended?: readonly string[];
  readonly started: readonly string[];
}

const rows: readonly Row[] = [
  { name: 'one lane has at most the limit of a lane', entered: times(5, 'a/x'), started: times(4, 'a/x') },
  {
    name: 'the rest is left to other lanes',
    entered: [...times(5, 'a/x'), ...times(2, 'a/y')],
    started: [...times(4, 'a/x'), ...times(2, 'a/y')],
  },
  {
    name: 'the last places are for lanes without requests in flight',
    entered: [...times(4, 'a/x'), ...times(3, 'a/y'), ...times(2, 'a/z'), 'a/u', 'a/v'],
    started: [...times(4, 'a/x'), ...times(2, 'a/y'), 'a/z', 'a/u'],
  },
  {
    name: 'a client without requests in flight never waits',
    entered: [...times(4, 'a/x'), ...times(2, 'a/y'), 'a/z', 'a/u', 'a/v', ...times(2, 'b/x'), 'c/x'],
    started: [...times(4, 'a/x'), ...times(2, 'a/y'), 'a/z', 'a/u', 'b/x', 'c/x'],
  },
  {
    name: 'the next request of a lane starts when another one ends',
    entered: times(6, 'a/x'),
    ended: ['a/x'],
    started: times(5, 'a/x'),
  },
  {
    name: 'waiting lanes take turns, whatever the order of their requests',
    entered: [...times(4, 'a/x'), ...times(2, 'b/x'), ...times(3, 'a/x'), ...times(2, 'b/x')],
    ended: ['a/x', 'a/x', 'b/x', 'b/x'],
    started: [...times(4, 'a/x'), ...times(2, 'b/x'), 'a/x', 'b/x', 'a/x', 'b/x'],
  },
  {
    name: 'a lane at its limit is skipped',
    entered: [...times(5, 'a/x'), ...times(2, 'b/x'), 'b/x'],
    ended: ['b/x'],
    started: [...times(4, 'a/x'), ...times(2, 'b/x'), 'b/x'],
  },
];

describe('RequestLanes', () => {
  for (const { name, entered, ended = [], started } of rows) {
    test(name, () => {
      const requests = new Requests();
      requests.enter(...entered);
      requests.end(...ended);
      expect(requests.started).toEqual(started);
    });
  }

  test('a request that is aborted while it waits never starts, and the next takes its place', () => {
    const requests = new Requests();
    requests.enter(...times(4, 'a/x'));
    const giveUp = requests.enter('a/x');
    requests.enter('a/x');
    giveUp();
    expect(requests.started).toHaveLength(4);
    requests.end('a/x', 'a/x');
    expect(requests.started).toHaveLength(5);
  });

  test('a lane has its full limit again after all requests have ended', () => {
    const requests = new Requests();
    for (let round = 0; round < 3; round++) {
      requests.enter(...times(9, 'a/x'));
      requests.end(...times(9, 'a/x'));
    }
    requests.enter(...times(9, 'a/x'));
    expect(requests.started).toHaveLength(3 * 9 + 4);
  });

  test('no request overtakes waiting ones while a connection becomes free', () => {
    const started: string[] = [];
    let serve = (): void => {};
    const lanes = new RequestLanes(limits, (callback) => (serve = callback));
    const enter = (name: string, text: string): (() => void) => lanes.enter(laneOf(text), () => started.push(name));
    const [leave] = ['1', '2', '3', '4'].map((name) => enter(name, 'a/x'));
    enter('5', 'b/x');
    enter('6', 'b/x');
    enter('7', 'a/x');
    leave?.();
    enter('8', 'b/x');
    expect(started).toEqual(['1', '2', '3', '4', '5', '6']);
    serve();
    expect(started).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  });
});
