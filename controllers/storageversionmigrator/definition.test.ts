import { describe, expect, test } from 'vitest';

import { CustomResourceDefinitions, type CustomResourceDefinition } from '../../pkg/api/index.ts';
import { build, frozen } from '../../test/support/builders.ts';
import { computeBegin, computeEnd, definitionKeyOf } from './definition.ts';

const nowMs = Date.UTC(2026, 0, 2);
const version = (name: string, storage: boolean) => ({ name, storage, served: true });
const definition = (condition?: object) =>
  frozen(
    build<CustomResourceDefinition>(
      CustomResourceDefinitions,
      { name: 'widgets.example.com', metadata: { generation: 3, resourceVersion: '7' } },
      {
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { kind: 'Widget', plural: 'widgets' },
          versions: [version('v1', false), version('v2', true)],
        },
        status: { storedVersions: ['v1', 'v2'], ...(condition && { conditions: [condition] }) },
      } as unknown as Omit<CustomResourceDefinition, 'metadata'>,
    ),
  );
const running = (observedGeneration: number) => ({ type: 'StorageMigrating', status: 'True', observedGeneration });
const written = (status: string, reason: string, message: string) => ({
  type: 'StorageMigrating',
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-02T00:00:00Z',
  observedGeneration: 3,
});

test('the beginning of a migration is applied to the definition that was read', () => {
  expect(computeBegin(definition(), 'move', nowMs)).toEqual({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', resourceVersion: '7' },
    status: {
      conditions: [written('True', 'MigrationRunning', 'Migration move is running')],
      storedVersions: ['v1', 'v2'],
    },
  });
});

describe('the end of a migration', () => {
  const succeeded = 'The migration has succeeded';
  const rows = [
    {
      name: 'leaves the storage version alone in the list of stored versions',
      condition: running(3),
      isSuccess: true,
      storedVersions: ['v2'],
      end: written('False', 'MigrationSucceeded', `${succeeded} and the stored versions have been updated`),
    },
    {
      name: 'leaves that list as it is if the definition has changed meanwhile',
      condition: running(2),
      isSuccess: true,
      storedVersions: ['v1', 'v2'],
      end: written(
        'False',
        'MigrationSucceeded',
        `${succeeded} but the stored versions have not been updated due to a generation mismatch`,
      ),
    },
    {
      name: 'leaves that list as it is if the definition was created meanwhile',
      condition: undefined,
      isSuccess: true,
      storedVersions: ['v1', 'v2'],
      end: expect.objectContaining({ reason: 'MigrationSucceeded' }),
    },
    {
      name: 'leaves that list as it is after a failure, because old objects may be left',
      condition: running(3),
      isSuccess: false,
      storedVersions: ['v1', 'v2'],
      end: written('False', 'MigrationFailed', 'The migration has failed'),
    },
  ];
  for (const { name, condition, isSuccess, storedVersions, end } of rows) {
    test(name, () => {
      expect(computeEnd(definition(condition), isSuccess, nowMs)).toMatchObject({
        metadata: { resourceVersion: '7' },
        status: { conditions: [end], storedVersions },
      });
    });
  }

  test('is not applied twice: the generation at the beginning is no longer known', () => {
    const ended = { ...running(3), status: 'False' };
    expect(computeEnd(definition(ended), true, nowMs)).toBeUndefined();
  });
});

test('only resources with a group can be custom resources', () => {
  expect(definitionKeyOf({ group: 'example.com', resource: 'widgets' })).toBe('widgets.example.com');
  expect(definitionKeyOf({ group: '', resource: 'pods' })).toBeUndefined();
});
