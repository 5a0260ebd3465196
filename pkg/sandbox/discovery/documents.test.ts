import { describe, expect, test } from 'vitest';

import { Registry } from '../registry/index.ts';
import { aggregatedDiscovery, compareVersions, coreVersions, groupList, oneGroup, resourceList } from './documents.ts';

const resources = new Registry().all();

test('versions are ordered by stage, then by number, and unknown ones come last', () => {
  const versions = ['v1alpha1', 'v10', 'v1', 'foo', 'v1beta2', 'v2', 'v1beta1', 'bar'];
  expect(versions.sort(compareVersions)).toEqual(['v10', 'v2', 'v1', 'v1beta2', 'v1beta1', 'v1alpha1', 'bar', 'foo']);
});

describe('discovery', () => {
  test('lists the groups with the preferred version of each', () =>
    expect(groupList(resources)).toMatchObject({
      kind: 'APIGroupList',
      groups: expect.arrayContaining([
        expect.objectContaining({ name: 'apps', preferredVersion: { groupVersion: 'apps/v1', version: 'v1' } }),
      ]),
    }));

  test('lists no core group beside the named ones', () =>
    expect(groupList(resources)).not.toMatchObject({
      groups: expect.arrayContaining([expect.objectContaining({ name: '' })]),
    }));

  test('lists the versions of the core group', () =>
    expect(coreVersions('host')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] }));

  test('describes one group, and returns undefined for a group that does not exist', () => {
    expect(oneGroup(resources, 'batch')).toMatchObject({ kind: 'APIGroup', name: 'batch' });
    expect(oneGroup(resources, 'absent')).toBeUndefined();
    expect(oneGroup(resources, '')).toBeUndefined();
  });

  test('lists resources with their subresources, and the kinds of those that differ', () => {
    const list = resourceList(resources, 'apps/v1') as { resources: { name: string }[] };
    const byName = new Map(list.resources.map((each) => [each.name, each]));
    expect(byName.get('deployments')).toMatchObject({ kind: 'Deployment', namespaced: true, shortNames: ['deploy'] });
    expect(byName.get('deployments/status')).toMatchObject({ kind: 'Deployment', singularName: '' });
    expect(byName.get('deployments/scale')).toMatchObject({ kind: 'Scale', group: 'autoscaling', version: 'v1' });
    expect(resourceList(resources, 'apps/v9')).toBeUndefined();
  });

  for (const [root, name] of [
    ['api', undefined],
    ['apis', 'apps'],
  ] as const) {
    test(`aggregates everything below /${root}`, () => {
      const { items } = aggregatedDiscovery(resources, root) as { items: { metadata: { name?: string } }[] };
      expect(items.map(({ metadata }) => metadata.name)).toContain(name);
      expect(items.every(({ metadata }) => (metadata.name === undefined) === (root === 'api'))).toBe(true);
    });
  }
});
