import { describe, expect, test } from 'vitest';

import { StorageVersionMigrations, type StorageVersionMigration } from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { planTurn, turnOf } from './turns.ts';

function migration(name: string, { created = 1, ...conditions }: { created?: number } & Record<string, unknown> = {}) {
  const object = build<StorageVersionMigration>(
    StorageVersionMigrations,
    { name, metadata: { creationTimestamp: `2026-01-01T00:00:0${created}Z` } },
    {
      spec: { resource: { group: 'apps', resource: 'deployments' } },
      status: {
        conditions: Object.entries(conditions).map(([type, status]) => ({
          type,
          status: String(status),
          reason: '',
          message: '',
          lastTransitionTime: '',
        })),
      },
    },
  );
  return frozen(object);
}
const waiting = (name: string, created?: number) => migration(name, created === undefined ? {} : { created });
const running = migration('running', { Running: 'True' });
const over = migration('over', { Running: 'True', Succeeded: 'True' });
const failed = migration('failed', { Running: 'True', Failed: 'True' });
const past = migration('past', { Running: 'False', Succeeded: 'True' });

describe('planTurn', () => {
  const rows = [
    { name: 'has nothing to do without migrations', all: [], ended: [], next: undefined },
    { name: 'begins with the oldest', all: [waiting('b', 2), waiting('c', 1)], ended: [], next: 'c' },
    { name: 'begins with the first by name of the same age', all: [waiting('b'), waiting('a')], ended: [], next: 'a' },
    { name: 'waits while one runs', all: [waiting('a'), running], ended: [], next: undefined },
    {
      name: 'ends those that are over, and goes on',
      all: [over, failed, waiting('a')],
      ended: ['over', 'failed'],
      next: 'a',
    },
    {
      name: 'ends one that is over while another runs',
      all: [over, running, waiting('a')],
      ended: ['over'],
      next: undefined,
    },
    { name: 'leaves those alone that have ended', all: [past], ended: [], next: undefined },
  ];
  for (const { name, all, ended, next } of rows) {
    test(name, () => {
      const turn = planTurn(all);
      expect(turn.ended.map(({ metadata }) => metadata.name)).toEqual(ended);
      expect(turn.next?.metadata.name).toBe(next);
    });
  }
});

test('migrations of a resource take turns, whatever their names', () => {
  expect([turnOf(running), turnOf(waiting('x'))]).toEqual(['deployments.apps', 'deployments.apps']);
});
