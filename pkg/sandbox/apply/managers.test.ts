import { describe, expect, test } from 'vitest';

import { Registry } from '../registry/index.ts';
import { applyFields, trackUpdate, type ManagedFields, type Writer } from './managers.ts';
import { shapeOf } from './shape.ts';

const deployments = new Registry().get('apps', 'v1', 'deployments');
const shape = shapeOf(deployments);
const writer = (manager: string, operation: Writer['operation'] = 'Apply'): Writer => ({
  manager,
  operation,
  apiVersion: 'apps/v1',
  time: '2026-01-01T00:00:00Z',
});
const container = (name: string, more: object = {}) => ({ name, ...more });
const withContainers = (...containers: object[]) => ({ spec: { template: { spec: { containers } } } });

function apply(live: object | undefined, applied: object, managedFields: ManagedFields = [], force = false, by = 'me') {
  return applyFields({
    live: live === undefined ? undefined : { ...live },
    managedFields,
    applied: { ...applied },
    shape,
    writer: writer(by),
    force,
  });
}

function merged(outcome: ReturnType<typeof apply>) {
  if (outcome.kind !== 'merged') throw new Error(JSON.stringify(outcome.conflicts));
  return outcome;
}

describe('applyFields', () => {
  test('owns what it applies, down to the items of lists', () => {
    const { managedFields } = merged(apply(undefined, withContainers(container('a', { image: 'x' }))));
    expect(managedFields).toMatchObject([
      {
        manager: 'me',
        operation: 'Apply',
        fieldsV1: {
          'f:spec': {
            'f:template': {
              'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
            },
          },
        },
      },
    ]);
  });

  test('removes the fields that it no longer applies, and leaves those of other managers', () => {
    const first = merged(apply(undefined, withContainers(container('a'), container('b'))));
    const live = withContainers(container('a'), container('b'), container('other'));
    const { object } = merged(apply(live, withContainers(container('a')), first.managedFields));
    expect(object).toEqual(withContainers(container('a'), container('other')));
  });

  test('leaves a field that another manager applies too', () => {
    const mine = merged(apply(undefined, { spec: { replicas: 2 } }));
    const theirs = merged(apply(mine.object, { spec: { replicas: 2 } }, mine.managedFields, false, 'them'));
    const { object } = merged(apply(theirs.object, { spec: {} }, theirs.managedFields));
    expect(object).toEqual({ spec: { replicas: 2 } });
  });

  test('is refused where another manager has another value', () => {
    const theirs = merged(apply(undefined, { spec: { replicas: 2 } }, [], false, 'them'));
    const outcome = apply(theirs.object, { spec: { replicas: 3 } }, theirs.managedFields);
    expect(outcome).toMatchObject({ kind: 'conflict', conflicts: [{ manager: 'them', field: '.spec.replicas' }] });
  });

  test('becomes the owner of the field when forced', () => {
    const theirs = merged(apply(undefined, { spec: { replicas: 2, paused: true } }, [], false, 'them'));
    const { object, managedFields } = merged(
      apply(theirs.object, { spec: { replicas: 3 } }, theirs.managedFields, true),
    );
    expect(object).toEqual({ spec: { replicas: 3, paused: true } });
    expect(managedFields.find(({ manager }) => manager === 'them')?.fieldsV1).toEqual({ 'f:spec': { 'f:paused': {} } });
  });

  test('treats an object that was never applied as owned by its last writer', () => {
    const outcome = apply({ spec: { replicas: 1 } }, { spec: { replicas: 3 } });
    expect(outcome).toMatchObject({ kind: 'conflict', conflicts: [{ manager: 'before-first-apply' }] });
  });
});

describe('trackUpdate', () => {
  test('gives a changed field to its writer, and forgets a removed one', () => {
    const { managedFields } = merged(apply(undefined, { spec: { replicas: 2, paused: true } }));
    const after = trackUpdate({
      before: { spec: { replicas: 2, paused: true } },
      after: { spec: { replicas: 5 } },
      managedFields,
      shape,
      writer: writer('scaler', 'Update'),
    });
    expect(after.map(({ manager, fieldsV1 }) => ({ manager, fieldsV1 }))).toEqual([
      { manager: 'scaler', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ]);
  });

  test('gives a map to its first writer, and to later writers only the keys that they add', () => {
    const { managedFields } = merged(apply(undefined, { spec: { replicas: 2 } }));
    const [none, one, two] = [{}, { labels: { a: '1' } }, { labels: { a: '1', b: '2' } }];
    const change = (before: object, after: object, managed: ManagedFields, by: string): ManagedFields =>
      trackUpdate({
        before: { metadata: before, spec: { replicas: 2 } },
        after: { metadata: after, spec: { replicas: 2 } },
        managedFields: managed,
        shape,
        writer: writer(by, 'Update'),
      });
    const after = change(one, two, change(none, one, managedFields, 'first'), 'second');
    expect(after.slice(1).map(({ manager, fieldsV1 }) => ({ manager, fieldsV1 }))).toEqual([
      { manager: 'first', fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } } },
      { manager: 'second', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:b': {} } } } },
    ]);
  });
});
