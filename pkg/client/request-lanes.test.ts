import { describe, expect, test } from 'vitest';

import { RequestLanes, type Lane, type Place } from './request-lanes.ts';

const limits = { lane: 4, all: 6, first: 8 };

/** The lanes of requests, `client/namespace`, in the order in which the requests were admitted. */
class Requests {
  readonly started: string[] = [];
  readonly #lanes = new RequestLanes(limits);
  readonly #places = new Map<string, Place[]>();

  async enter(...lanes: readonly string[]): Promise<Place | undefined> {
    let place: Place | undefined;
    for (const text of lanes) {
      place = this.#lanes.enter(laneOf(text));
      if (place.admission === undefined) this.started.push(text);
      else place.admission.then(() => this.started.push(text)).catch(() => {});
      this.#places.set(text, [...(this.#places.get(text) ?? []), place]);
    }
    await admissions();
    return place;
  }

  /** Ends the oldest request of each of these lanes. */
  async end(...lanes: readonly string[]): Promise<void> {
    for (const text of lanes) this.#places.get(text)?.shift()?.leave();
    await admissions();
  }
}

/** Waits until the requests that are admitted know it. */
async function admissions(): Promise<void> {
  await Promise.resolve();
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
    test(name, async () => {
      const requests = new Requests();
      await requests.enter(...entered);
      await requests.end(...ended);
      expect(requests.started).toEqual(started);
    });
  }

  test('a request that is aborted while it waits is never admitted, and the next takes its place', async () => {
    const requests = new Requests();
    await requests.enter(...times(4, 'a/x'));
    const aborted = await requests.enter('a/x');
    await requests.enter('a/x');
    aborted?.leave();
    expect(requests.started).toHaveLength(4);
    await requests.end('a/x', 'a/x');
    expect(requests.started).toHaveLength(5);
  });

  test('a lane has its full limit again after all requests have ended', async () => {
    const requests = new Requests();
    for (let round = 0; round < 3; round++) {
      await requests.enter(...times(9, 'a/x'));
      await requests.end(...times(9, 'a/x'));
    }
    await requests.enter(...times(9, 'a/x'));
    expect(requests.started).toHaveLength(3 * 9 + 4);
  });

  test('a request that enters just after another one has ended waits behind those that already wait', async () => {
    const requests = new Requests();
    await requests.enter(...times(5, 'a/x'));
    const ended = requests.end('a/x');
    const entered = requests.enter('a/x');
    await Promise.all([ended, entered]);
    expect(requests.started).toHaveLength(5);
    await requests.end('a/x');
    expect(requests.started).toHaveLength(6);
  });
});
