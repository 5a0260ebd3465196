import { describe, expect, test } from 'vitest';

import { History, type Entry } from './history.ts';

function entry(id: number, key = 'default/web', resource: string | undefined = 'deployments.apps'): Entry {
  const record = {
    id,
    controller: 'deployment-controller',
    key,
    startedMs: 0,
    durationMs: 1,
    outcome: 'success' as const,
    reads: [],
    plan: [],
    requests: [],
  };
  return { record, resource };
}

function addMany(history: History, from: number, to: number, key?: string): void {
  for (let id = from; id <= to; id++) history.add(entry(id, key));
}

function idsOf(history: History, key = 'default/web', resource = 'deployments.apps'): readonly number[] {
  return history.of(resource, key).map(({ id }) => id);
}

describe('the history of an object', () => {
  test('is that of its key and resource alone, newest first', () => {
    const history = new History();
    history.add(entry(1));
    history.add(entry(2, 'default/api'));
    history.add(entry(3, 'default/web', 'services'));
    history.add({ ...entry(4), resource: undefined });
    history.add(entry(5));
    expect(idsOf(history)).toEqual([5, 1]);
    expect(idsOf(history, 'default/web', 'services')).toEqual([3]);
    expect(idsOf(history, 'default/none')).toEqual([]);
  });

  test('is in order after the ring has begun anew', () => {
    const history = new History();
    addMany(history, 1, 990, 'default/busy');
    addMany(history, 991, 1010);
    expect(idsOf(history)).toEqual(Array.from({ length: 20 }, (_, index) => 1010 - index));
  });

  test('is forgotten after a thousand reconciles of others', () => {
    const history = new History();
    history.add(entry(1));
    addMany(history, 2, 1000, 'default/busy');
    expect(idsOf(history)).toEqual([1]);
    history.add(entry(1001, 'default/busy'));
    expect(idsOf(history)).toEqual([]);
  });

  test('has at most a hundred records', () => {
    const history = new History();
    addMany(history, 1, 150);
    expect(idsOf(history)).toHaveLength(100);
    expect(idsOf(history)[0]).toBe(150);
  });
});

describe('an object that somebody looks at', () => {
  test('keeps what was recorded before and after', () => {
    const history = new History();
    history.add(entry(1));
    history.follow('deployments.apps', 'default/web');
    history.add(entry(2));
    history.add(entry(3, 'default/web', 'services'));
    addMany(history, 4, 3000, 'default/busy');
    expect(idsOf(history)).toEqual([2, 1]);
  });

  test('has at most a hundred records', () => {
    const history = new History();
    history.follow('deployments.apps', 'default/web');
    addMany(history, 1, 150);
    const ids = idsOf(history);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([100, 150, 51]);
  });

  test('is kept until the last of them has gone', () => {
    const history = new History();
    const first = history.follow('deployments.apps', 'default/web');
    const second = history.follow('deployments.apps', 'default/web');
    history.add(entry(1));
    addMany(history, 2, 2000, 'default/busy');
    first();
    expect(idsOf(history)).toEqual([1]);
    second();
    expect(idsOf(history)).toEqual([]);
  });
});
