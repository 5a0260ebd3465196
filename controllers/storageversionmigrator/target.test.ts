import { describe, expect, test } from 'vitest';

import { Deployments, Pods, StorageVersionMigrations, type StorageVersionMigration } from '../../pkg/api/index.ts';
import { build, creationTime, frozen } from '../../test/support/builders.ts';
import { judgeTarget } from './target.ts';

const verbs = new Set(['get', 'list', 'patch', 'update']);
const migrationOf = (group: string, resource: string) =>
  frozen(build<StorageVersionMigration>(StorageVersionMigrations, {}, { spec: { resource: { group, resource } } }));
const createdMs = Date.parse(creationTime);

describe('judgeTarget', () => {
  const rows = [
    { name: 'finds a resource', of: ['apps', 'deployments'], expected: { state: 'served', kind: Deployments } },
    { name: 'finds one of the core group', of: ['', 'pods'], expected: { state: 'served', kind: Pods } },
    { name: 'tells groups apart', of: ['', 'deployments'], ageMs: 60_000, expected: { state: 'absent' } },
    { name: 'awaits a resource for a minute', of: ['x', 'late'], ageMs: 59_000, expected: { state: 'awaited' } },
    { name: 'then says that it is absent', of: ['x', 'late'], ageMs: 60_000, expected: { state: 'absent' } },
    {
      name: 'awaits a group that cannot be discovered now',
      of: ['down', 'late'],
      ageMs: 3_600_000,
      expected: { state: 'awaited' },
    },
    {
      name: 'names what a resource lacks',
      of: ['', 'bindings'],
      expected: {
        state: 'unsuitable',
        problem: 'resource "/v1, Resource=bindings" does not support discovery operations: [update patch list]',
      },
    },
  ] as const;
  for (const { name, of, expected, ...rest } of rows) {
    test(name, () => {
      const discovered = {
        resources: [
          { kind: Deployments, verbs },
          { kind: Pods, verbs },
          { kind: { ...Pods, resource: 'bindings' }, verbs: new Set(['create']) },
        ],
        failures: new Map([['down/v1', 'no answer']]),
      };
      const nowMs = createdMs + ('ageMs' in rest ? rest.ageMs : 0);
      expect(judgeTarget(migrationOf(of[0], of[1]), discovered, nowMs)).toEqual(expected);
    });
  }
});
